/*
 * A short reference identifies a submission in speech and writing with ten letters and digits, such as
 * K7QF2-9XM4D. It is computed from the submission ID, so nothing is stored. It contains the millisecond of
 * the ID, by which the submission is found, and a count that distinguishes IDs of the same millisecond.
 */

/** Douglas Crockford's base 32, without letters that look alike. */
const referenceAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 10;
const bits = 50;
/** The start of the millisecond count, whose 40 bits last until 2054. */
const epoch = Date.UTC(2020, 0, 1);
const countBits = 10n;

/** An odd number and its inverse modulo 2^50, so that consecutive references do not look alike. */
const mix = 0x2_7d4e_b2f1_9c6bn;
const unmix = inverse(mix);

/** Formats the reference of a submission for its visitor: the short one, unless the theme turns it off. */
export const formatReference = (id: string, theme: { readonly short_reference?: boolean } = {}): string =>
  theme.short_reference === false ? id : formatSubmissionReference(id);

/** Returns the short reference of a submission. */
export function formatSubmissionReference(id: string): string {
  const digits = id.replaceAll('-', '');
  const time = Number.parseInt(digits.slice(0, 12), 16);
  // The count within a millisecond ends in these four digits, before two random bits (kit/clock.ts).
  const count = (Number.parseInt(digits.slice(18, 22), 16) >> 2) & 0x3ff;
  let rest = BigInt.asUintN(bits, ((BigInt(time - epoch) << countBits) | BigInt(count)) * mix);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = referenceAlphabet[Number(rest & 31n)]! + text;
    rest >>= 5n;
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/** A short reference in a query: its normal form, and the millisecond of its submission. */
type ParsedSubmissionReference = { readonly reference: string; readonly time: Date };

/**
 * Reads a short reference in any spelling: lower case, without the dash, O for 0. Undefined for other texts.
 * A word of ten letters can look like a reference, so callers must check that the submission exists.
 */
export function parseSubmissionReference(text: string): ParsedSubmissionReference | undefined {
  const tidy = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (tidy.length !== length || tidy.split('').some((letter) => !referenceAlphabet.includes(letter)))
    return undefined;
  const mixed = tidy
    .split('')
    .reduce((sum, letter) => (sum << 5n) | BigInt(referenceAlphabet.indexOf(letter)), 0n);
  const time = Number(BigInt.asUintN(bits, mixed * unmix) >> countBits) + epoch;
  return { reference: `${tidy.slice(0, 5)}-${tidy.slice(5)}`, time: new Date(time) };
}

/** Uses Newton's method: each step doubles the correct bits. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let right = 3; right < bits; right *= 2) found = BigInt.asUintN(bits, found * (2n - odd * found));
  return found;
}
