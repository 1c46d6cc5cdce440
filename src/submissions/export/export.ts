import { Readable } from 'node:stream';
import { writeXlsxStream } from 'hucre/xlsx';
import type { Column } from '../columns.ts';
import { bodyCells, type Cell, type ExportedSubmission, headCells } from './cells.ts';
import { csvRecord } from './csv.ts';
import type { ExportFormat } from './formats.ts';
import { ndjsonLine } from './ndjson.ts';

type Source = { columns: readonly Column[]; submissions: AsyncIterable<ExportedSubmission> };

type Options = { readonly withMark: boolean };

/**
 * Submissions as a file, written while they are read: memory does not grow with their number, and a reader that
 * goes away ends the reading of `submissions`.
 * @param options.withMark begins a CSV with a byte order mark, by which Excel knows that it is UTF-8.
 */
export function exportStream(format: ExportFormat, source: Source, options: Options): Readable {
  return writers[format](source, options);
}

const writers: Readonly<Record<ExportFormat, (source: Source, options: Options) => Readable>> = {
  csv: ({ columns, submissions }, { withMark }) =>
    readText((withMark ? '\uFEFF' : '') + csvRecord(headCells(columns)), submissions, (submission) =>
      csvRecord(bodyCells(columns, submission)),
    ),
  ndjson: ({ columns, submissions }) =>
    readText('', submissions, (submission) => ndjsonLine(columns, submission)),
  xlsx: (source) =>
    Readable.fromWeb(writeXlsxStream(xlsxRows(source), { name: 'Submissions', freezePane: { rows: 1 } })),
};

const readText = (...parts: Parameters<typeof gather>): Readable =>
  Readable.from(gather(...parts), { objectMode: false });

/** Lines are gathered, as a chunk for each would cost more than the lines. */
const chunkLength = 16_384;

async function* gather(
  head: string,
  submissions: Source['submissions'],
  write: (submission: ExportedSubmission) => string,
): AsyncGenerator<string> {
  let chunk = head;
  for await (const submission of submissions) {
    chunk += write(submission);
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Excel's limit for the text of one cell. */
const longestCell = 32_767;

async function* xlsxRows({
  columns,
  submissions,
}: Source): AsyncGenerator<(string | number | Date | null)[]> {
  yield headCells(columns).map(xlsxCell);
  for await (const submission of submissions) yield bodyCells(columns, submission).map(xlsxCell);
}

/** Texts are stored as texts, which are never calculated; control characters, which XML cannot hold, become U+FFFD. */
function xlsxCell(cell: Cell): string | number | Date | null {
  if (typeof cell !== 'string') return cell ?? null;
  const text = cell.replace(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, '\uFFFD');
  return text.length > longestCell ? `${text.slice(0, longestCell - 1).toWellFormed()}…` : text;
}
