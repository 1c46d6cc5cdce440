import type { SearchLanguage } from '#ast/basics/languages.ts';
import lists from './common-words.json' with { type: 'json' };
import { foldText } from './spellings.ts';

const wordsOf = new Map(
  Object.entries(lists).map(([language, words]) => [language, new Set(words.split(' '))]),
);
const inAnyLanguage = new Set([...wordsOf.values()].flatMap((words) => [...words]));

const none: ReadonlySet<string> = new Set();

/**
 * Returns the words of a language that PostgreSQL leaves out of its index, such as "the". The index has them
 * in a form of their own, for searches that have no other words.
 */
export const commonWordsOf = (language: SearchLanguage): ReadonlySet<string> => wordsOf.get(language) ?? none;

/** Whether PostgreSQL leaves the word out in any language. */
export const isCommonWord = (word: string): boolean => inAnyLanguage.has(word);

/** Returns the terms of common words in a row: each word, and each word with the next one. */
export const commonTerms = (words: readonly string[]): { words: string[]; pairs: string[] } => ({
  words: words.map((word) => `.${word}`),
  pairs: words.slice(1).map((word, at) => `.${words[at]} ${word}`),
});

/**
 * The fewest letters of a German compound, and of a word that is searched at its end and at its beginning.
 */
const [leastCompound, leastEnd, leastBeginning] = [8, 4, 5];

/** Between the parts of a compound, after these endings. */
const boundary = /(?<=\p{L}{2}(?:ung|heit|keit|schaft|ion|tät|ling|tum)s)(?=\p{L}{4})/u;

/** The inflections of German words that are left out at the end of a compound. */
export const compoundEndings = ['ern', 'em', 'en', 'er', 'es', 'e', 's', 'n'];

/** Returns a word without its inflection, roughly: only the end of a word is compared. */
function withoutEnding(word: string): string {
  const ending = compoundEndings.find((each) => word.endsWith(each));
  return ending === undefined || word.length - ending.length < 4 ? word : word.slice(0, -ending.length);
}

const reversed = (text: string): string => Array.from(text).toReversed().join('');

const endTerm = (word: string): string => `<${reversed(withoutEnding(foldText(word)))}`;

/**
 * Returns the parts of a German word that are certain to be words, and terms of the ends of the word and of
 * its parts: the beginning of the term for `Stromrechnung` is the term for `Rechnung`.
 */
export function compoundTerms(word: string): { parts: string[]; ends: string[] } {
  if (word.length < leastCompound || !/^\p{L}+$/u.test(word)) return { parts: [], ends: [] };
  const split = word.split(boundary);
  const parts =
    split.length > 1 ? split.map((part, at) => (at < split.length - 1 ? part.slice(0, -1) : part)) : [];
  return {
    parts,
    ends: [word, ...parts.slice(0, -1)].filter((part) => part.length >= leastCompound).map(endTerm),
  };
}

/** Returns what a German compound with this word contains; empty for a word that is too short. */
export function partOfCompound(word: string): string {
  const part = withoutEnding(foldText(word));
  return part.length < leastEnd || !/^\p{L}+$/u.test(word) ? '' : part;
}

/** Returns the beginnings of index terms of German words that begin or end with this word. */
export const partBeginnings = (word: string): string[] => {
  const part = partOfCompound(word);
  return part === '' ? [] : [`<${reversed(part)}`, ...(part.length < leastBeginning ? [] : [part])];
};

/** Whether a folded German word begins or ends with one of these parts (partOfCompound). */
export const hasPart = (folded: string, parts: readonly string[]): boolean => {
  const found = withoutEnding(folded);
  return parts.some((part) => part !== '' && (found.startsWith(part) || found.endsWith(part)));
};
