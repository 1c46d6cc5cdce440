/** Letters that no normalization form splits into a letter and a mark. */
const plainLetters: Readonly<Record<string, string>> = {
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
const otherLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'gu');

/**
 * Accents of Latin, Greek and Cyrillic letters, and the optional vowel signs of Hebrew and Arabic. Marks of other
 * scripts are letters of their own.
 */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g;

/** Two spellings of one letter: `Müller` is also written `Mueller`. */
const spelledOut: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

/** The digits zero of the scripts that have their own. */
const zeros = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0,
];

/** Returns the text with ASCII digits. */
export const withPlainDigits = (text: string): string =>
  text.replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!;
    const zero = zeros.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit.normalize('NFKC') : String(code - zero);
  });

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Returns a word as it is compared: in NFKC and lower case, without invisible characters. */
export function comparableWord(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
}

const withoutAccents = (text: string): string =>
  withPlainDigits(text.normalize('NFD').replaceAll(accents, ''))
    .normalize('NFC')
    .replaceAll(otherLetters, (letter) => plainLetters[letter]!);

/**
 * Returns the spellings of a text in lower case that differ from it only by accents: without them, and with `ue` for
 * `ü`. Empty if the text has no accents.
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
  isAscii(text) ? text.toLowerCase() : withoutAccents(text.normalize('NFKC').toLowerCase());
