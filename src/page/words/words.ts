import { countCharacters } from '#ast/basics/text.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type en from './en.json';

/**
 * The page's own texts by key; all other texts are the author's. `en.json` has the English texts, and defines
 * the keys and `{placeholders}` for every language. They are plain text, so that they can be sent to the
 * page's script as JSON.
 */
export type Words = Readonly<Record<keyof typeof en.words, string>>;

/** Returns the words for a page with one question at a time: steps are called questions. */
export const withQuestionWords = (words: Words): Words => ({
  ...words,
  step: words.question,
  stepTitle: words.questionTitle,
});

/**
 * Messages about invalid answers in one language; `rule.kind` if a kind of question has its own message
 * (format-problem.ts).
 */
export type PageProblems = Readonly<Record<keyof typeof en.problems, string>>;

/**
 * Whether a message has all words of a label, also with other endings: "Full name" and "Enter your full name".
 * Short words could be in it by chance, except in languages without spaces.
 */
function namesLabel(message: string, label: string): boolean {
  const text = ` ${message.toLowerCase()}`;
  const words = label.trim().toLowerCase().split(' ');
  return words.every((word) => {
    const hasSpaces = word < '\u3000';
    const stem = word.slice(0, Math.max(4, word.length - 2));
    return (word.length > 2 || !hasSpaces) && text.includes(hasSpaces ? ` ${stem}` : stem);
  });
}

/**
 * Formats a problem away from its question: label and message, or only the message if it names the question.
 * The label may already end in punctuation.
 */
export function prefixProblemLabel(label: string, message: string, words: Pick<Words, 'labelled'>): string {
  if (label === '' || namesLabel(message, label)) return message;
  const hasMark = /[?!.:;…？！。：；؟]\s*$/u.test(label);
  return fillTemplate(hasMark ? words.labelled.replace(/\u00a0?[:：]/, '') : words.labelled, {
    label: label.trimEnd(),
    message,
  });
}

/**
 * Fills in a text. `{limit#file|files}` becomes one of the two words, depending on the number. `formatted`
 * contains the values as formatted in the language.
 */
export function fillPlural(
  sentence: string,
  language: string,
  values: Readonly<Record<string, string | number>>,
  formatted: Readonly<Record<string, string | number>> = values,
): string {
  const chosen = sentence.replaceAll(
    /\{(\w+)#([^|}]*)\|([^}]*)\}/g,
    (_all, name: string, one: string, more: string) =>
      new Intl.PluralRules(language).select(Number(values[name])) === 'one' ? one : more,
  );
  return fillTemplate(chosen, formatted);
}

/** Describes how many characters of an answer are left, or how many there are too many. */
export function formatCharactersLeft(
  text: string,
  limit: number,
  words: Pick<Words, 'countLeft' | 'countOver'>,
  language: string,
): string {
  const left = limit - countCharacters(text);
  return fillPlural(left < 0 ? words.countOver : words.countLeft, language, { count: Math.abs(left) });
}
