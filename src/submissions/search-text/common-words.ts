import type { SearchLanguage } from '#ast/basics/languages.ts';
import lists from './common-words.json' with { type: 'json' };

const wordsOf = new Map(
  Object.entries(lists).map(([language, words]) => [language, new Set(words.split(' '))]),
);
const inAnyLanguage = new Set([...wordsOf.values()].flatMap((words) => [...words]));

const none: ReadonlySet<string> = new Set();

/**
 * Returns the words of a language that PostgreSQL leaves out of its index, such as "the". The index has them in a form of
 * their own, for searches that have no other words.
 */
export const commonWordsOf = (language: SearchLanguage): ReadonlySet<string> => wordsOf.get(language) ?? none;

/** Whether PostgreSQL leaves the word out in any language. */
export const isCommonWord = (word: string): boolean => inAnyLanguage.has(word);

/** Returns the terms of common words in a row: each word, and each word with the next one. */
export const commonTerms = (words: readonly string[]): { words: string[]; pairs: string[] } => ({
  words: words.map((word) => `.${word}`),
  pairs: words.slice(1).map((word, at) => `.${words[at]} ${word}`),
});
