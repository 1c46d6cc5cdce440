import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Column } from '../columns.ts';
import { bodyCells, type Cell, type ExportedSubmission, headCells } from './cells.ts';
import { asItIs, csvRecord, csvSubmission, guardFormula } from './csv.ts';
import type { ExportFormat } from './formats.ts';
import { ndjsonLine } from './ndjson.ts';

type Batches = AsyncIterable<readonly ExportedSubmission[]>;

type Source = { columns: readonly Column[]; batches: Batches };

type Options = { readonly forSpreadsheet: boolean };

/**
 * Submissions as a file, written while they are read: memory does not grow with their number, and a reader that
 * goes away ends the reading of `batches`. Others are served in between.
 * @param options.forSpreadsheet begins a CSV with a byte order mark, by which Excel knows that it is UTF-8, and guards
 *   texts that could be a formula. A program gets them as they are: it would not know what to take away.
 */
export function exportStream(format: ExportFormat, source: Source, options: Options): Readable {
  return writers[format](source, options);
}

const writers: Readonly<Record<ExportFormat, (source: Source, options: Options) => Readable>> = {
  csv: (source, { forSpreadsheet }) => {
    const write = forSpreadsheet ? guardFormula : asItIs;
    const head = (forSpreadsheet ? '\uFEFF' : '') + csvRecord(headCells(source.columns), write);
    return readText(head, source, (submission) => csvSubmission(source.columns, submission, write));
  },
  ndjson: (source) => readText('', source, (submission) => ndjsonLine(source.columns, submission)),
  xlsx: (source) => Readable.from(writeXlsx(source), { objectMode: false }),
};

/** So many characters of answers are written at a time: a few ms, also as XLSX, and a chunk worth its sending. */
const turnLength = 65_536;
/** What a cell costs beside its characters, as so many of them: most cells may be empty. */
const cellLength = 16;

/** Cuts batches into turns, and lets the event loop serve others between two of them. */
async function* inTurns({ columns, batches }: Source): AsyncGenerator<readonly ExportedSubmission[]> {
  for await (const batch of batches) {
    let [from, length] = [0, 0];
    for (const [index, { answers }] of batch.entries()) {
      length += answers.length + columns.length * cellLength;
      if (length < turnLength) continue;
      yield batch.slice(from, index + 1);
      await setImmediate();
      [from, length] = [index + 1, 0];
    }
    if (from < batch.length) yield batch.slice(from);
  }
}

const readText = (...parts: Parameters<typeof writeText>): Readable =>
  Readable.from(writeText(...parts), { objectMode: false });

/** Text for each turn at once: a chunk for each line would cost more than the lines. */
async function* writeText(
  head: string,
  source: Source,
  write: (submission: ExportedSubmission) => string,
): AsyncGenerator<string> {
  let chunk = head;
  for await (const turn of inTurns(source)) {
    for (const submission of turn) chunk += write(submission);
    yield chunk;
    chunk = '';
  }
  // The head of an export without a row.
  yield chunk;
}

/** The library is loaded for the first file: it is 74 modules that most processes never need. */
async function* writeXlsx(source: Source): AsyncGenerator<Uint8Array> {
  const { writeXlsxStream } = await import('hucre/xlsx');
  yield* writeXlsxStream(xlsxRows(source), { name: 'Submissions', freezePane: { rows: 1 } });
}

/** Excel's limit for the text of one cell. */
const longestCell = 32_767;

async function* xlsxRows(source: Source): AsyncGenerator<XlsxCell[]> {
  const { columns } = source;
  yield headCells(columns).map(xlsxCell);
  for await (const turn of inTurns(source))
    for (const submission of turn) yield withinRow(bodyCells(columns, submission).map(xlsxCell));
}

/** Characters that XML writes as others, in the texts of one row: the library writes a row at once. */
const mostEscaped = 100_000;

/** The cells of a row: a text ends with "…" before the first character that would be one too many. */
function withinRow(cells: XlsxCell[]): XlsxCell[] {
  let left = mostEscaped;
  return cells.map((cell) => {
    if (typeof cell !== 'string') return cell;
    for (let at = 0; at < cell.length; at += 1) {
      if (!isEscaped(cell.charCodeAt(at))) continue;
      if (left === 0) return cut(cell, at);
      left -= 1;
    }
    return cell;
  });
}

/** `&`, `<`, `>` and a carriage return. */
const isEscaped = (code: number): boolean => code === 38 || code === 60 || code === 62 || code === 13;

const cut = (text: string, length: number): string => `${text.slice(0, length).toWellFormed()}…`;

type XlsxCell = string | number | Date | null;

/** Texts are stored as texts, which are never calculated; control characters, which XML cannot hold, become U+FFFD. */
function xlsxCell(cell: Cell): XlsxCell {
  if (typeof cell !== 'string') return cell ?? null;
  const text = cell.length > longestCell ? cut(cell, longestCell - 1) : cell;
  return text.replace(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, '\uFFFD');
}
