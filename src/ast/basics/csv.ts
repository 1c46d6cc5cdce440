import { formatWholeNumber } from './format-number.ts';
import { normalizeText } from './text.ts';

/** A record of a CSV file, and the line on which it begins, counted from 1. */
export type CsvRecord = { line: number; cells: string[] };

/** `problem` is a sentence that says why the text is not valid CSV. */
type CsvResult = { ok: true; records: CsvRecord[] } | { ok: false; problem: string };

/** The separators of cells, which differ between spreadsheet programs and countries. */
const separators = [',', ';', '\t', '|'] as const;

/** A file with more columns is not a list of records. */
const mostColumns = 100;

/**
 * Reads CSV (RFC 4180): quoted cells can contain separators, line breaks and doubled quotes. The first line
 * shows the separator, or `sep=;` before it does. Skips a byte order mark and empty lines. Reads in one pass,
 * so hostile text costs only its length.
 * @param limit how many records are kept; the rest are only counted in `total`.
 */
export function readCsv(text: string, limit: number): CsvResult & { total: number } {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const nul = source.indexOf('\u0000');
  if (nul >= 0) return refuse('The file contains NUL characters. Save it as CSV in UTF-8.');
  // Excel reads and writes this line to specify the separator.
  const [named = '', , chosen] = /^("?)sep=(.)\1[,;\t|]*(?:\r\n|\n|\r|$)/.exec(source) ?? [];
  const separator = chosen ?? findSeparator(source);
  const records: CsvRecord[] = [];
  let total = 0;
  let at = named.length;
  let line = named === '' ? 1 : 2;
  while (at < source.length) {
    const read = readRecord(source, at, separator);
    if (typeof read === 'string') return refuse(`Line ${formatWholeNumber(line)}: ${read}`);
    if (read.cells.some((cell) => cell.trim() !== '')) {
      total += 1;
      if (records.length < limit) records.push({ line, cells: read.cells.map(normalizeText) });
    }
    line += read.lines;
    at = read.end;
  }
  return { ok: true, records, total };
}

const refuse = (problem: string): CsvResult & { total: number } => ({ ok: false, problem, total: 0 });

/** Returns the most frequent separator in the first line, outside of quotes. */
function findSeparator(source: string): string {
  const counts = new Map<string, number>(separators.map((separator) => [separator, 0]));
  let isQuoted = false;
  for (const character of source.slice(0, 10_000))
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) break;
    else if (!isQuoted && counts.has(character)) counts.set(character, counts.get(character)! + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]![0];
}

type RecordRead = { cells: string[]; end: number; lines: number };

/** Reads the record at `start`. Returns it with the next start and its number of lines, or a problem. */
function readRecord(source: string, start: number, separator: string): RecordRead | string {
  const cells: string[] = [];
  let at = start;
  let lines = 1;
  for (;;) {
    if (cells.length >= mostColumns) return `There are more than ${mostColumns} columns.`;
    if (source[at] === '"') {
      const cell = readQuoted(source, at);
      if (cell === undefined) return 'A quotation mark is not closed. Add the closing quotation mark.';
      cells.push(cell.text);
      lines += cell.text.split(/\r\n|\r|\n/).length - 1;
      at = cell.end;
      // `"Ada" Lovelace` is not valid in RFC 4180, but people write it. The rest belongs to the same cell.
      const rest = endOfPlain(source, at, separator);
      cells[cells.length - 1] += source.slice(at, rest);
      at = rest;
    } else {
      const end = endOfPlain(source, at, separator);
      cells.push(source.slice(at, end));
      at = end;
    }
    if (source[at] === separator) at += 1;
    else return { cells, lines, end: at + (source.startsWith('\r\n', at) ? 2 : 1) };
  }
}

/** Returns where an unquoted cell ends: at a separator, a line break, or the end of the text. */
function endOfPlain(source: string, start: number, separator: string): number {
  let at = start;
  while (at < source.length && source[at] !== separator && source[at] !== '\n' && source[at] !== '\r')
    at += 1;
  return at;
}

function readQuoted(source: string, start: number): { text: string; end: number } | undefined {
  const parts: string[] = [];
  let from = start + 1;
  for (;;) {
    const quote = source.indexOf('"', from);
    if (quote < 0) return undefined;
    parts.push(source.slice(from, quote));
    if (source[quote + 1] !== '"') return { text: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}

/**
 * Matches texts that a spreadsheet could read as a formula. They begin with = + - @, a full-width or small
 * form of these, or a control character (tab, line break, ESC), also after spaces and quotes (docs/rules.md
 * T17, C57).
 */
const formulaStart =
  /^(?:\p{Cc}|[\s\p{Cf}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/u;

/** Most texts begin like this and are not formulas. This check takes a tenth of the time. */
const plainStart = /^[A-Za-z0-9]/;

/**
 * Puts an apostrophe before a text that a spreadsheet could read as a formula. Also puts one before a text
 * that begins with an apostrophe, so that removing one apostrophe always restores the original.
 */
export const escapeSpreadsheetFormula = (text: string): string =>
  !plainStart.test(text) && (formulaStart.test(text) || text.startsWith("'")) ? `'${text}` : text;

/** Removes only the apostrophe that `escapeSpreadsheetFormula` added. */
export function unescapeSpreadsheetFormula(text: string): string {
  const bare = text.slice(1);
  return escapeSpreadsheetFormula(bare) === text ? bare : text;
}

/** Outside the function, which would otherwise create the pattern for each field. */
const quoted = /[",\r\n]/;

/** Formats a text as a cell of a record (RFC 4180). */
export const csvCell = (text: string): string =>
  quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
