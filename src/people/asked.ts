import { trimText } from '#ast/basics/text.ts';

/** How a person is looked for, as the statements and the checks behind them take it. */
export type Asked = {
  /** As it was sent, without blanks around it. */
  q: string;
  /** Regular expressions of PostgreSQL for where it may stand: in a text, and in a text within JSON. */
  pattern: string;
  json_pattern: string;
  /** The same for a text in which it stands by itself, and not within a longer word, address or number. */
  word_pattern: string;
  /** Whether a text says it: is this one, whatever its case, or holds this very address or number. */
  isSaid: (text: string) => boolean;
  /** Whether it stands anywhere in a text, in a longer word too. */
  standsIn: (text: string) => boolean;
};

/** At least so many characters, so that not everybody is found; an address has 254 at most. */
export const askedLengths = { least: 3, most: 254 } as const;

/** A phone number as people write it: digits, and what stands between them. */
const phonePattern = /^\+?[\d\s()./-]+$/;
const leastDigits = 6;

/** Reads what a person is looked for by: a mail address, a phone number, or any other answer. */
export function readAsked(sent: string): Asked {
  const q = trimText(sent);
  const digits = digitsOf(q);
  if (phonePattern.test(q) && digits.length >= leastDigits) return phoneAsked(q, digits);
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
    isSaid: (text) => (q.includes('@') ? address.test(fold(text)) : fold(trimText(text)) === plain),
    standsIn: (text) => fold(text).includes(plain),
  };
}

function phoneAsked(q: string, digits: string): Asked {
  const pattern = digits.split('').join('[^0-9"]{0,3}');
  const number = new RegExp(`(?<!\\d)(?:00)?${digits}(?!\\d)`);
  return {
    q,
    pattern,
    json_pattern: pattern,
    word_pattern: `(?<!\\d)(?:00)?${pattern}(?!\\d)`,
    isSaid: (text) => number.test(text.replaceAll(/[\s()./-]/g, '')),
    standsIn: (text) => text.replaceAll(/\D/g, '').includes(digits),
  };
}

const fold = (text: string): string => text.toLowerCase();

/** `+49 30 1234` and `0049 30 1234` are one number. */
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '').replace(/^00/, '');

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
