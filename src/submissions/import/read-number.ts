import { plainCharacters } from './read-moment.ts';

/** The mark before decimals. */
export type DecimalMark = '.' | ',';

/** Marks between thousands stand before every three digits, in India before every two: `1,234,567.8`, `12,34,567`. */
const numbers: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^[+-]? ?(?:(?:\d+|[1-9]\d{0,2}([ '’,])(?:\d{2,3}\1)*\d{3})(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i,
  ',': /^[+-]? ?(?:(?:\d+|[1-9]\d{0,2}([ '’.])(?:\d{2,3}\1)*\d{3})(?:,\d+)?|,\d+)(?:e[+-]?\d+)?$/i,
};

/** Returns the number that a text writes, with a point before its decimals and nothing between thousands. */
export function plainNumber(text: string, decimal: DecimalMark): string | undefined {
  const plain = plainCharacters(text);
  if (!numbers[decimal].test(plain)) return undefined;
  return plain.replaceAll(decimal === ',' ? /[ '’.]/g : /[ '’,]/g, '').replace(',', '.');
}

/** The digits of a number without the zeros around them, and the power of ten of the last one. */
function digitsOf(plain: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(plain) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign === '-' ? '-' : ''}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** Whether a double keeps every digit of a number: not 9007199254740993, and not 0.1234567890123456789. */
const isKept = (plain: string): boolean =>
  Number.isFinite(Number(plain)) && digitsOf(plain) === digitsOf(String(Number(plain)));

/**
 * Returns a cell as a number; a text that is none comes back as it is, for the check of answers to refuse.
 * @returns a problem for a number with more digits than can be stored.
 */
export function readNumber(
  cell: string | number | boolean,
  decimal: DecimalMark,
): { value: unknown } | { problem: string } {
  if (typeof cell === 'number')
    return Math.abs(cell) <= Number.MAX_SAFE_INTEGER ? { value: cell } : tooLong(String(cell));
  const plain = typeof cell === 'string' ? plainNumber(cell, decimal) : undefined;
  if (plain === undefined) return { value: cell };
  return isKept(plain) ? { value: Number(plain) } : tooLong(String(cell).trim().slice(0, 100));
}

const tooLong = (text: string): { problem: string } => ({
  problem: `The number ${text} has more digits than can be stored exactly. Round it, or import it into a text question.`,
});
