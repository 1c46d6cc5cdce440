import { memoizeByArguments } from '../basics/memoize.ts';
import { trimText } from '../basics/text.ts';

/**
 * A number format: the decimal separator, then the thousands separator if other formats use that character
 * for decimals. Spaces and apostrophes can separate thousands in every format.
 */
export type NumberMarks = '.' | '.,' | ',' | ',.';

/** The number format of programs and URLs. */
export const plainMarks: NumberMarks = '.';

/**
 * Returns the number format of a language, with or without a region (`es-MX`).
 * @throws RangeError for an invalid language tag.
 */
export const numberMarksOf = memoizeByArguments((tag: string): NumberMarks => {
  const parts = new Intl.NumberFormat(tag, { numberingSystem: 'latn' }).formatToParts(1_234_567.8);
  const markOf = (type: string) => parts.find((part) => part.type === type)?.value;
  const thousands = markOf('group');
  if (markOf('decimal') === ',') return thousands === '.' ? ',.' : ',';
  return thousands === ',' ? '.,' : '.';
});

/** Returns whether external input is a number format. */
export function isNumberMarks(text: string | undefined): text is NumberMarks {
  return text !== undefined && /^(?:\.,?|,\.?)$/.test(text);
}

/** Formats a number for `readNumber`, without thousands separators. */
export function formatEditableNumber(value: number, [decimal]: NumberMarks): string {
  return String(value).replace('.', decimal!);
}

const numberFormatOf = memoizeByArguments(
  (locale: string | undefined, decimals: number | undefined) =>
    new Intl.NumberFormat(locale, {
      numberingSystem: 'latn',
      minimumFractionDigits: decimals ?? 0,
      maximumFractionDigits: decimals ?? 20,
    }),
);

/** How an element shows its numbers. Without `decimals`, a number has as many as it needs. */
export type NumberFormat = { readonly decimals?: number; readonly prefix?: string; readonly suffix?: string };

/**
 * Formats a number for a person.
 * @param locale the BCP 47 tag of the reader's language and region; undefined for that of the browser.
 */
export function formatNumber(
  value: number,
  locale: string | undefined,
  { decimals, prefix = '', suffix = '' }: NumberFormat = {},
): string {
  return `${prefix}${numberFormatOf(locale, decimals).format(value)}${suffix}`;
}

// Uses a decimal point. An apostrophe stands for the thousands separator of the format.
const written =
  /^[-+]?(?=\.?\d)(?:\d+|[1-9]\d{0,2}(?:([ \u00a0\u2009\u202f'’٬])\d{3})(?:\1\d{3})*)?(?:\.\d+)?(?:e[-+]?\d+)?$/i;

/**
 * Parses a number in digits of any script that the page's languages use. Returns undefined for ambiguous
 * texts: separators of another language, groups without exactly three digits, incomplete numbers, and numbers
 * above 2^53, which would not be exact.
 */
export function readNumber(text: string, [decimal, thousands]: NumberMarks): number | undefined {
  const plain = trimText(text)
    // Removes direction marks and other invisible characters.
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[٠-٩۰-۹０-９]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .replaceAll(/[.,．，٫]/g, (mark) => {
      const narrow = mark.normalize('NFKC');
      if (narrow === decimal || mark === '٫') return '.';
      return narrow === thousands ? "'" : '?';
    })
    .replace(/^\s*[−－]/, '-')
    .trim();
  if (!written.test(plain)) return undefined;
  const value = Number(plain.replaceAll(/[^\d.e+-]/gi, ''));
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}
