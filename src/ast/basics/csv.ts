import { sayNumber } from './say-number.ts';
import { normalizeText } from './text.ts';

/** A record of a CSV file, and the line that it begins on, from 1. */
export type CsvRecord = { line: number; cells: string[] };

/** `problem` says in words why the text cannot be read as CSV. */
type CsvResult = { ok: true; records: CsvRecord[] } | { ok: false; problem: string };

/** Separators between cells: what spreadsheets write in one country or another. */
const separators = [',', ';', '\t', '|'] as const;

/** More columns than this are no list. */
const mostColumns = 100;

/**
 * Reads CSV (RFC 4180): cells in quotes may hold separators, line breaks and doubled quotes. Which separator it is,
 * the first line tells, or `sep=;` before it; a byte order mark and empty lines are left out. One pass: hostile text costs its length.
 * @param limit how many records are kept; the rest are counted in `total` alone.
 */
export function readCsv(text: string, limit: number): CsvResult & { total: number } {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const nul = source.indexOf('\u0000');
  if (nul >= 0) return refuse('The file holds NUL characters. Save it as CSV in UTF-8.');
  // What Excel reads and writes to name the separator.
  const [named = '', , chosen] = /^("?)sep=(.)\1[,;\t|]*(?:\r\n|\n|\r|$)/.exec(source) ?? [];
  const separator = chosen ?? findSeparator(source);
  const records: CsvRecord[] = [];
  let total = 0;
  let at = named.length;
  let line = named === '' ? 1 : 2;
  while (at < source.length) {
    const read = readRecord(source, at, separator);
    if (typeof read === 'string') return refuse(`Line ${sayNumber(line)}: ${read}`);
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

/** The one that the first line has most of, outside of quotes. */
function findSeparator(source: string): string {
  const counts = new Map<string, number>(separators.map((separator) => [separator, 0]));
  let isQuoted = false;
  for (const character of source.slice(0, 10_000)) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) break;
    else if (!isQuoted && counts.has(character)) counts.set(character, counts.get(character)! + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]![0];
}

type RecordRead = { cells: string[]; end: number; lines: number };

/** The record that begins at `start`, where the next one begins, and over how many lines it goes; or a problem. */
function readRecord(source: string, start: number, separator: string): RecordRead | string {
  const cells: string[] = [];
  let at = start;
  let lines = 1;
  for (;;) {
    if (cells.length >= mostColumns) return `There are more than ${mostColumns} columns.`;
    if (source[at] === '"') {
      const cell = readQuoted(source, at);
      if (cell === undefined) return 'A quote is opened and never closed.';
      cells.push(cell.text);
      lines += cell.text.split(/\r\n|\r|\n/).length - 1;
      at = cell.end;
      // Not RFC 4180, and yet written by hand: "Ada" Lovelace. The rest belongs to the cell.
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

/** Where a cell without quotes ends: at a separator, a line break, or the end. */
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
 * Texts that a spreadsheet could take for a formula: those that begin with = + - @, their full-width and small
 * forms, a control character (a tab, a line break, ESC), also behind spaces and quotes (docs/rules.md T17, C57).
 */
const formulaStart =
  /^(?:\p{Cc}|[\s\p{Cf}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/u;

/** Most texts begin like this, and are no formula: so much is told in a tenth of the time. */
const plainStart = /^[A-Za-z0-9]/;

/**
 * A text that no spreadsheet calculates: an apostrophe goes before what could be a formula. It goes before a text
 * that begins with one as well, so that a reader who takes one leading apostrophe away always has the original.
 */
export const guardFormula = (text: string): string =>
  !plainStart.test(text) && (formulaStart.test(text) || text.startsWith("'")) ? `'${text}` : text;

/** What such a text was before: without the apostrophe that stands there for a spreadsheet, and with one that is its own. */
export function unguardFormula(text: string): string {
  const bare = text.slice(1);
  return guardFormula(bare) === text ? bare : text;
}

/** Not within the function: it would be made anew for each field. */
const quoted = /[",\r\n]/;

/** A text as a cell of a record (RFC 4180). */
export const csvCell = (text: string): string =>
  quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
