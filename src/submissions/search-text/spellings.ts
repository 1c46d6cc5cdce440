import { cutMarks } from '#ast/basics/text.ts';

/** Letters that no normalization form splits into a letter and a mark. */
const foldedCharacters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ς: 'σ',
  // Arabic and Persian forms of one letter.
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
};
const otherCharacters = new RegExp(`[${Object.keys(foldedCharacters).join('')}]`, 'gu');

/**
 * Accents of Latin, Greek and Cyrillic letters, and the optional vowel signs of Hebrew and Arabic. Marks of
 * other scripts are letters of their own.
 */
const accents = String.raw`\u0300-\u034e\u0350-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670`;

/** Invisible characters inside words. The first one keeps marks from being sorted or composed. */
const invisible = '\u034f\u00ad\u200b\u200c\u200d\u2060\ufeff';

const ignored = new RegExp(`[${accents}${invisible}]`, 'g');

/** Two spellings of one letter: `Müller` is also written `Mueller`. */
const spelledOut: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

/** The digits zero of the scripts that have their own. */
const zeros = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0,
];

/** Returns the text with ASCII digits. */
const withPlainDigits = (text: string): string =>
  text.replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!;
    const zero = zeros.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit.normalize('NFKC') : String(code - zero);
  });

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Returns a word as it is compared: in NFKC and lower case, without invisible characters. */
export function comparableWord(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return cutMarks(text)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
}

const withoutAccents = (text: string): string =>
  withPlainDigits(text.normalize('NFD').replaceAll(ignored, ''))
    .normalize('NFC')
    .replaceAll(otherCharacters, (letter) => foldedCharacters[letter]!);

/**
 * Returns the spellings of a text in lower case that differ from it only by accents: without them, and with
 * `ue` for `ü`. Empty if the text has no accents.
 */
export function foldedSpellings(text: string): string[] {
  if (isAscii(text)) return [];
  const spelled = text.replaceAll(/[äöüåø]/g, (letter) => spelledOut[letter]!);
  const folded = new Set([withoutAccents(text), ...(spelled === text ? [] : [withoutAccents(spelled)])]);
  folded.delete(text);
  return [...folded];
}

/** Returns a text without case and accents. */
export const foldText = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : withoutAccents(cutMarks(text).normalize('NFKC').toLowerCase());

/** Punctuation that joins words: PostgreSQL would read an address or a file name as one word. */
const joints = `_/.@:?=&%~()+''\`´’‘‚ʹʺʻʼʽʾʿ“”„«»‹›‐‑‒–—―…·•′″×、。，．！？；：（）「」『』【】・¿¡-`;

const foldings = Object.entries(foldedCharacters);
const singleCharacters = foldings.filter(([, plain]) => plain.length === 1);
const otherDigits = zeros
  .flatMap((zero) => Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(zero + digit)))
  .join('');
const replaced = singleCharacters.map(([letter]) => letter).join('');
const replacements = singleCharacters.map(([, plain]) => plain).join('');

/** Marks after this many characters are not sorted with those before, because that takes quadratic time. */
const sortedSpan = 64;

/** Returns SQL for a text as foldText returns it, without punctuation. */
export function foldSql(text: string): string {
  const words = `regexp_replace(${text}, '[${joints}]', ' ', 'g')`;
  const split = String.raw`regexp_replace(${words}, '.{${sortedSpan}}', '\&${invisible[0]}', 'g')`;
  const bare = `normalize(regexp_replace(lower(normalize(${split}, NFKD)), '[${accents}]+', '', 'g'), NFC)`;
  const spelled = foldings
    .filter(([, plain]) => plain.length > 1)
    .reduce((sql, [letter, plain]) => `replace(${sql}, '${letter}', '${plain}')`, bare);
  // `translate` compares each character with each of these, so it has only those that the text needs.
  return `case when octet_length(${text}) = length(${text}) then lower(${words})
    when ${text} ~ '[${otherDigits}]' then translate(${spelled}, '${replaced}${otherDigits}${invisible}',
      '${replacements}${'0123456789'.repeat(zeros.length)}')
    else translate(${spelled}, '${replaced}${invisible}', '${replacements}') end`;
}

/** A run of digits in groups, as phone numbers are written. */
export type DigitRun = { readonly begin: number; readonly end: number; readonly text: string };

const runs =
  /(?<![\p{L}\p{N}_])(?:\+\s?|\(\+?|00)?\p{Nd}[\p{Nd}\u00a0 ()/.\u2010-\u2015-]{4,28}\p{Nd}(?![\p{L}\p{N}_])/gu;
const [fewestDigits, mostDigits] = [7, 18];

/** Returns the runs that have as many digits as a phone number can have. */
export function digitRuns(text: string): DigitRun[] {
  if (!/[0-9]|[^\0-\x7f]/.test(text)) return [];
  const found: DigitRun[] = [];
  for (const { 0: run, index } of text.matchAll(runs)) {
    const digits = run.match(/\p{Nd}/gu)!.length;
    if (digits >= fewestDigits && digits <= mostDigits)
      found.push({ begin: index, end: index + run.length, text: run });
  }
  return found;
}

/** Country codes of one and two digits. All others have three (ITU-T E.164). */
const shortCodes = new Set(
  '1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98'.split(
    ' ',
  ),
);

const withoutCountry = (digits: string): string =>
  digits.slice([1, 2].find((length) => shortCodes.has(digits.slice(0, length))) ?? 3);

/** The fewest digits of a number without its country code, and of a number that may have one. */
const [leastNational, leastInternational] = [6, 11];

/**
 * Returns the digits of a run, and the number without country code and leading zeros. A number without `+`
 * has a country code if it is long enough for one.
 */
export function readDigits(run: string): { whole: string; national: string } {
  const plain = withPlainDigits(run);
  const isMarked = /^\(?(?:\+|00)/.test(plain);
  // The zero in +49 (0)170 is not dialed.
  const whole = (isMarked ? plain.replace('(0)', '') : plain)
    .replaceAll(/\D/g, '')
    .replace(isMarked ? /^00/ : /^$/, '');
  const isInternational = isMarked || (whole.length >= leastInternational && !whole.startsWith('0'));
  // Russian numbers begin with 8 within the country.
  const local = isInternational
    ? /^8\d{10}$/.test(whole) && !isMarked
      ? whole.slice(1)
      : withoutCountry(whole)
    : whole;
  const national = local.replace(/^0+/, '');
  return { whole, national: national.length >= leastNational ? national : whole };
}
