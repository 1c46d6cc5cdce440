import { countCharacters } from '#ast/basics/text.ts';
import { fill } from '#ast/basics/words.ts';
import type en from './en.json';

/**
 * Every sentence that the page says by itself, by name; the rest of its text is the author's. `en.json` has the English
 * sentences, and decides the names and their `{parts}` for every other language. A sentence is plain text, so that it
 * travels to the page's script as JSON.
 */
export type Words = Readonly<Record<keyof typeof en.words, string>>;

/** The words of a page that asks one question at a time: its steps are questions. */
export const countingQuestions = (words: Words): Words => ({
  ...words,
  step: words.question,
  stepTitle: words.questionTitle,
});

/**
 * The sentences about answers that break a rule, in one language: `rule.kind` where a kind of question has a sentence of
 * its own (say-problem.ts).
 */
export type PageProblems = Readonly<Record<keyof typeof en.problems, string>>;

/** A problem where it does not stand at its question: behind the label, which may end in a mark of its own. */
export function nameProblem(label: string, message: string, words: Pick<Words, 'labelled'>): string {
  if (label === '') return message;
  const hasMark = /[?!.:;…？！。：；؟]\s*$/u.test(label);
  return fill(hasMark ? words.labelled.replace(/\u00a0?[:：]/, '') : words.labelled, {
    label: label.trimEnd(),
    message,
  });
}

/**
 * A sentence filled in, where `{limit#file|files}` is one of two words by the number. `said` are the values as the
 * language writes them.
 */
export function fillCounted(
  sentence: string,
  language: string,
  values: Readonly<Record<string, string | number>>,
  said: Readonly<Record<string, string | number>> = values,
): string {
  const chosen = sentence.replaceAll(
    /\{(\w+)#([^|}]*)\|([^}]*)\}/g,
    (_all, name: string, one: string, more: string) =>
      new Intl.PluralRules(language).select(Number(values[name])) === 'one' ? one : more,
  );
  return fill(chosen, said);
}

/** How many characters are left of those that an answer may have, or are too many. */
export function sayLeft(
  text: string,
  limit: number,
  words: Pick<Words, 'countLeft' | 'countOver'>,
  language: string,
): string {
  const left = limit - countCharacters(text);
  return fillCounted(left < 0 ? words.countOver : words.countLeft, language, { count: Math.abs(left) });
}
