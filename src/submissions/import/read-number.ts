import { plainCharacters } from './read-moment.ts';

/** The decimal separator. */
export type DecimalMark = '.' | ',';

/**
 * Thousands separators come before every three digits, in India before every two: `1,234,567.8`, `12,34,567`.
 */
const numbers: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^[+-]? ?(?:(?:\d+|[1-9]\d{0,2}([ '’,])(?:\d{2,3}\1)*\d{3})(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i,
  ',': /^[+-]? ?(?:(?:\d+|[1-9]\d{0,2}([ '’.])(?:\d{2,3}\1)*\d{3})(?:,\d+)?|,\d+)(?:e[+-]?\d+)?$/i,
};

/** Returns the number in a text, with a decimal point and without thousands separators. */
export function plainNumber(text: string, decimal: DecimalMark): string | undefined {
  const plain = plainCharacters(text);
  if (!numbers[decimal].test(plain)) return undefined;
  return plain.replaceAll(decimal === ',' ? /[ '’.]/g : /[ '’,]/g, '').replace(',', '.');
}

/** Returns the digits of a number without surrounding zeros, and the power of ten of the last digit. */
function digitsOf(plain: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(plain) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign === '-' ? '-' : ''}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/**
 * Whether a double can store every digit of a number. It cannot for 9007199254740993 or
 * 0.1234567890123456789.
 */
const isKept = (plain: string): boolean =>
  Number.isFinite(Number(plain)) && digitsOf(plain) === digitsOf(String(Number(plain)));

/**
 * Returns a cell as a number. Other text is returned unchanged, so that the check of answers rejects it.
 * @returns a problem for a number with more digits than can be stored.
 */
export function readNumberCell(
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
