import { countCharacters } from '#ast/text.ts';
import { fill } from '#ast/words.ts';
import type { english, englishProblems } from './en.ts';

/**
 * Every sentence that the page says by itself, by name; the rest of its text is the author's. `en.ts` holds the
 * English ones and decides the names; another language is another such file. A sentence is plain text with `{names}`
 * for what is put in, so that it travels to the page's script as JSON.
 */
export type Words = Readonly<Record<keyof typeof english, string>>;

/** The words of a page that asks one question at a time: its steps are questions. */
export const countingQuestions = (words: Words): Words => ({
  ...words,
  step: words.question,
  stepTitle: words.questionTitle,
});

/** What is said at a question whose answer breaks a rule, in one language (say-problem.ts). */
export type PageProblems = Readonly<Record<keyof typeof englishProblems, string>>;

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
