import type { Cell } from './cells.ts';

/**
 * Texts that a spreadsheet could take for a formula: those that begin with = + - @, their full-width and small
 * forms, a tab or a line break, also behind spaces and quotes (reliability T17, C57).
 */
const formulaStart =
  /^(?:[\t\r\n]|[\s\p{Cf}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/u;

/** Most texts begin like this, and are no formula: so much is told in a tenth of the time. */
const plainStart = /^[A-Za-z0-9]/;

/**
 * A text that no spreadsheet calculates: an apostrophe goes before what could be a formula. It goes before a text
 * that begins with one as well, so that a reader who takes one leading apostrophe away always has the original.
 */
export const guardFormula = (text: string): string =>
  !plainStart.test(text) && (formulaStart.test(text) || text.startsWith("'")) ? `'${text}` : text;

/** One record of RFC 4180. Numbers are written as they are: a number is no formula, also when it is negative. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvField).join(',')}\r\n`;
}

function csvField(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = typeof cell === 'string' ? guardFormula(cell) : cell.toISOString();
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
