import { withPlainDigits } from './fold.ts';

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
 * Returns the digits of a run, and the number without country code and leading zeros. A number without `+` has a country
 * code if it is long enough for one.
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
