import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Answers } from '#ast/answers/check-answers.ts';
import { csvCell, escapeSpreadsheetFormula } from '#ast/basics/csv.ts';
import { getProperty } from '#ast/basics/json.ts';
import { limitConcurrency } from '#kit/concurrency.ts';
import type { Column } from '../columns.ts';
import {
  answerCells,
  type ExportCell,
  type ExportedSubmission,
  fixedExportHeadings,
  type LastColumns,
  lastCells,
  lastHeadings,
  listExportHeadings,
  referenceCell,
  spreadsheetFirstHeading,
  toExportCells,
} from './cells.ts';
import { xlsxStream } from './xlsx.ts';

/** Writes a text to a file: escaped for spreadsheets, or unchanged for programs. */
type TextWriter = (text: string) => string;
export const writeUnchanged: TextWriter = (text) => text;

/**
 * Formats one record as in RFC 4180, for spreadsheets by default. Numbers are written unchanged: even a
 * negative number is not a formula.
 */
export function csvRecord(
  cells: readonly ExportCell[],
  write: TextWriter = escapeSpreadsheetFormula,
): string {
  return `${cells.map((cell) => csvField(cell, write)).join(',')}\r\n`;
}

/**
 * Formats the record of a submission like `csvRecord` and `toExportCells`, but in half the time. Its id, status
 * and times are never formulas and never need quotes, and no array of cells is created.
 */
export function csvSubmission(
  columns: readonly Column[],
  submission: ExportedSubmission,
  write: TextWriter = escapeSpreadsheetFormula,
  last: LastColumns = {},
): string {
  const { id, status, created_at, completed_at, reference } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  let record = `${id},${status},${created_at},${completed_at ?? ''},`;
  for (const column of columns)
    for (const cell of answerCells(getProperty(answers, column.id), column))
      record += `${csvField(cell, write)},`;
  record += csvField(referenceCell(reference), write);
  for (const cell of lastCells(submission, last)) record += `,${csvField(cell, write)}`;
  return `${record}\r\n`;
}

function csvField(cell: ExportCell, write: TextWriter): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  return csvCell(typeof cell === 'string' ? write(cell) : cell.toISOString());
}

/** The file formats of exports. */
type ExportFormat = 'csv' | 'xlsx' | 'ndjson';
export const exportFormats = ['csv', 'xlsx', 'ndjson'] as const satisfies ExportFormat[];

/** The media type of each format. */
export const exportTypes = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
} as const satisfies Record<ExportFormat, string>;

/**
 * Formats a submission as a line of JSON: the answers by element id, as in the API, for `columns` in their
 * order.
 */
export function ndjsonLine(
  columns: readonly Column[],
  submission: ExportedSubmission,
  last: LastColumns = {},
): string {
  const { id, status, created_at, completed_at, stage_id, assignee_id } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  const reference = JSON.parse(submission.reference) as object;
  const chosen = columns.flatMap(({ id }) => {
    const answer = getProperty(answers, id);
    return answer === undefined ? [] : [[id, answer] as const];
  });
  const respondent = submission.respondent ? (JSON.parse(submission.respondent) as object) : null;
  const line = {
    id,
    status,
    reference,
    ...(last.hasRespondents && { respondent }),
    created_at,
    completed_at,
    answers: Object.fromEntries(chosen),
  };
  return `${JSON.stringify(last.names ? { ...line, stage_id, assignee_id } : line)}\n`;
}

type Batches = AsyncIterable<readonly ExportedSubmission[]>;

type Source = { columns: readonly Column[]; batches: Batches; last?: LastColumns };

const headingsOf = ({ columns, last = {} }: Source): string[] =>
  listExportHeadings(columns, lastHeadings(last));

type Options = { readonly forSpreadsheet: boolean };

/**
 * Streams submissions as a file. Memory does not grow with their number, and `batches` are no longer read if
 * the client disconnects. Other requests run in between.
 * @param options.forSpreadsheet starts a CSV with a byte order mark, so that Excel detects UTF-8, and escapes
 * texts that could be formulas. Programs get unchanged texts, because they cannot know what to remove.
 */
export function exportStream(format: ExportFormat, source: Source, options: Options): Readable {
  return writers[format](source, options);
}

const writers: Readonly<Record<ExportFormat, (source: Source, options: Options) => Readable>> = {
  csv: (source, { forSpreadsheet }) => {
    const write = forSpreadsheet ? escapeSpreadsheetFormula : writeUnchanged;
    const record = csvRecord(headingsOf(source), write);
    const head = forSpreadsheet
      ? `\uFEFF${spreadsheetFirstHeading}${record.slice(fixedExportHeadings[0].length)}`
      : record;
    return readText(head, source, (submission) =>
      csvSubmission(source.columns, submission, write, source.last),
    );
  },
  ndjson: (source) =>
    readText('', source, (submission) => ndjsonLine(source.columns, submission, source.last)),
  xlsx: (source) => xlsxStream(rowsOf(source)),
};

/**
 * The number of characters of answers per chunk. A chunk takes only a few ms, even for XLSX, and is large
 * enough to send.
 */
const turnLength = 65_536;
/** The cost of a cell in addition to its characters, because most cells may be empty. */
const cellLength = 16;

/** Splits batches into chunks, and yields to the event loop between them. */
async function* splitBatches({ columns, batches }: Source): AsyncGenerator<readonly ExportedSubmission[]> {
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

/** Writes the text of each chunk as one piece: a piece for each line would cost more than the lines. */
async function* writeText(
  head: string,
  source: Source,
  write: (submission: ExportedSubmission) => string,
): AsyncGenerator<string> {
  let chunk = head;
  for await (const turn of splitBatches(source)) {
    for (const submission of turn) chunk += write(submission);
    yield chunk;
    chunk = '';
  }
  // An export without rows still needs its headings.
  yield chunk;
}

/** Yields rows in chunks, for the thread that writes them. */
async function* rowsOf(source: Source): AsyncGenerator<readonly (readonly ExportCell[])[]> {
  yield [headingsOf(source)];
  for await (const turn of splitBatches(source))
    yield turn.map((submission) => [
      ...toExportCells(source.columns, submission),
      ...lastCells(submission, source.last ?? {}),
    ]);
}

/** The number of exports that this process runs at the same time for one workspace. */
const exportsAtOnce = 2;
const { enter } = limitConcurrency(exportsAtOnce, {
  seconds: 10,
  why: `This workspace is already running ${exportsAtOnce} exports.`,
});

/**
 * Starts an export that counts against the limit until its stream is closed, even if the client disconnects.
 * @throws ApiError rate_limit_exceeded if the workspace has reached its limit.
 */
export function startLimitedExport(workspaceId: string, begin: () => Readable): Readable {
  const leave = enter(workspaceId);
  try {
    return begin().once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
}
