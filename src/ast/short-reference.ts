/*
 * A short reference stands for a submission where people say and write it: ten letters and digits, as in K7QF2-9XM4D.
 * It is made of the submission's id alone, so every submission has one and nothing is stored for it: of the millisecond
 * in which the id was made, by which the submission is found again, and of what tells it from others of that one.
 */

/** Those of Douglas Crockford's base 32: none is taken for another. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 10;
const bits = 50;
/** Milliseconds are counted from here; their 40 bits last until 2054. */
const epoch = Date.UTC(2020, 0, 1);
const countBits = 10n;

/** An odd number and its inverse modulo 2^50: what comes next does not look like what came before. */
const mix = 0x2_7d4e_b2f1_9c6bn;
const unmix = inverse(mix);

export function shortReference(id: string): string {
  const digits = id.replaceAll('-', '');
  const time = Number.parseInt(digits.slice(0, 12), 16);
  // What counts within a millisecond ends in these four digits, before two bits that are random (kit/clock.ts).
  const count = (Number.parseInt(digits.slice(18, 22), 16) >> 2) & 0x3ff;
  let rest = BigInt.asUintN(bits, ((BigInt(time - epoch) << countBits) | BigInt(count)) * mix);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = letters[Number(rest & 31n)]! + text;
    rest >>= 5n;
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/** What a text asks for when it is a short reference: as it is written, and its submission's millisecond. */
export type AskedReference = { readonly reference: string; readonly time: Date };

/**
 * Reads a short reference, however it was written: small, without its dash, an O for a 0. Undefined for any other text;
 * but a word of ten letters looks like one, so whoever asks looks whether there is such a submission.
 */
export function readShortReference(text: string): AskedReference | undefined {
  const tidy = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (tidy.length !== length || tidy.split('').some((letter) => !letters.includes(letter))) return undefined;
  const mixed = tidy.split('').reduce((sum, letter) => (sum << 5n) | BigInt(letters.indexOf(letter)), 0n);
  const time = Number(BigInt.asUintN(bits, mixed * unmix) >> countBits) + epoch;
  return { reference: `${tidy.slice(0, 5)}-${tidy.slice(5)}`, time: new Date(time) };
}

/** By Newton's steps, of which each doubles the bits that are right. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let right = 3; right < bits; right *= 2) found = BigInt.asUintN(bits, found * (2n - odd * found));
  return found;
}
