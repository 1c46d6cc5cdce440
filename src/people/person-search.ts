import { trimText } from '#ast/basics/text.ts';

/** A search term for a person, in the forms that statements and checks need. */
export type PersonSearch = {
  /** The term as it was sent, trimmed. */
  q: string;
  /** PostgreSQL patterns that find the term in a text, and in a text within JSON. */
  pattern: string;
  json_pattern: string;
  /** Like `pattern`, but does not match within a longer word, address or number. */
  word_pattern: string;
  /** Whether a text equals the term, ignoring case, or contains it as a whole address or number. */
  isMatch: (text: string) => boolean;
  /** Whether a text contains the term, even within a longer word. */
  isPartOf: (text: string) => boolean;
};

/**
 * The limits of a term, in characters: shorter terms would match too many people, and an email address has at
 * most 254.
 */
export const personSearchLengths = { least: 3, most: 254 } as const;

/** A phone number as people write it: digits and separators. */
const phonePattern = /^\+?[\d\s()./-]+$/;
const leastDigits = 6;

/** Parses a search term: an email address, a phone number, or any other answer. */
export function parsePersonSearch(sent: string): PersonSearch {
  const q = trimText(sent);
  const digits = digitsOf(q);
  if (phonePattern.test(q) && digits.length >= leastDigits) return phoneSearch(q, digits);
  const plain = fold(q);
  const word_pattern = q.includes('@')
    ? `(?<![\\w.+-])${literal(plain)}(?![\\w-]|\\.\\w)`
    : `(?<!\\w)${literal(plain)}(?!\\w)`;
  const address = new RegExp(word_pattern);
  return {
    q,
    word_pattern,
    pattern: literal(q),
    json_pattern: literal(JSON.stringify(q).slice(1, -1)),
    isMatch: (text) => (q.includes('@') ? address.test(fold(text)) : fold(trimText(text)) === plain),
    isPartOf: (text) => fold(text).includes(plain),
  };
}

function phoneSearch(q: string, digits: string): PersonSearch {
  const pattern = digits.split('').join('[^0-9"]{0,3}');
  const number = new RegExp(`(?<!\\d)(?:00)?${digits}(?!\\d)`);
  return {
    q,
    pattern,
    json_pattern: pattern,
    word_pattern: `(?<!\\d)(?:00)?${pattern}(?!\\d)`,
    isMatch: (text) => number.test(text.replaceAll(/[\s()./-]/g, '')),
    isPartOf: (text) => text.replaceAll(/\D/g, '').includes(digits),
  };
}

const fold = (text: string): string => text.toLowerCase();

/** Returns the digits of a phone number: `+49 30 1234` and `0049 30 1234` are the same number. */
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '').replace(/^00/, '');

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
