import { trimText } from '../basics/text.ts';

/**
 * How somebody writes numbers: the decimal mark, and behind it the mark between thousands, where the language has one
 * of the two marks that others take for the decimal one. Spaces and apostrophes stand between thousands anywhere.
 */
export type NumberMarks = '.' | '.,' | ',' | ',.';

/** How programs and addresses write numbers. */
export const plainMarks: NumberMarks = '.';

/** How a language, perhaps of a region (`es-MX`), writes numbers. @throws RangeError for what is no tag of one. */
export function numberMarksOf(tag: string): NumberMarks {
  const parts = new Intl.NumberFormat(tag, { numberingSystem: 'latn' }).formatToParts(1_234_567.8);
  const markOf = (type: string) => parts.find((part) => part.type === type)?.value;
  const thousands = markOf('group');
  if (markOf('decimal') === ',') return thousands === '.' ? ',.' : ',';
  return thousands === ',' ? '.,' : '.';
}

/** Whether a text from outside says how numbers are written. */
export function isNumberMarks(text: string | undefined): text is NumberMarks {
  return text !== undefined && /^(?:\.,?|,\.?)$/.test(text);
}

/** A number as `readNumber` reads it, without marks between thousands. */
export function writeNumber(value: number, [decimal]: NumberMarks): string {
  return String(value).replace('.', decimal!);
}

/**
 * A number for a person, its thousands apart: by the language's mark, or by a narrow space where that is none of ours.
 * @param decimals how many it is said with; as many as it has when left out.
 */
export function sayNumber(
  value: number,
  [decimal = '.', thousands = '\u202f']: string,
  decimals?: number,
): string {
  // Past it, exponents say it more clearly.
  if (Math.abs(value) >= 1e15) return String(value).replace('.', decimal);
  const [whole, rest] = (decimals === undefined ? String(value) : value.toFixed(decimals)).split('.');
  const grouped = whole!.length > 4 ? whole!.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands) : whole!;
  return rest === undefined ? grouped : `${grouped}${decimal}${rest}`;
}

// With the point for decimals. An apostrophe stands for the language's own mark between thousands as well.
const written =
  /^[-+]?(?=\.?\d)(?:\d+|[1-9]\d{0,2}(?:([ \u00a0\u2009\u202f'’٬])\d{3})(?:\1\d{3})*)?(?:\.\d+)?(?:e[-+]?\d+)?$/i;

/**
 * The number that a text says, in digits of any script that the page's languages use. Undefined for every text that
 * could be meant otherwise: with the marks of another language, groups of other than three digits, a number broken
 * off, or past 2^53, where it would be another one than was written.
 */
export function readNumber(text: string, [decimal, thousands]: NumberMarks): number | undefined {
  const plain = trimText(text)
    // Marks of direction and other characters without a glyph.
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
