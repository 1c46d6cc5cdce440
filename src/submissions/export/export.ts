import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Answers } from '#ast/answers/check-answers.ts';
import { csvCell, guardFormula } from '#ast/basics/csv.ts';
import { own } from '#ast/basics/json.ts';
import { fewAtOnce } from '#kit/concurrency.ts';
import type { Column } from '../columns.ts';
import {
  answerCells,
  bodyCells,
  type Cell,
  type ExportedSubmission,
  fixedHeads,
  guardedHead,
  headCells,
  referenceCell,
} from './cells.ts';
import { xlsxStream } from './xlsx.ts';

/** What a text becomes in a file: guarded for a spreadsheet, as it is for a program. */
type TextWriter = (text: string) => string;
export const asItIs: TextWriter = (text) => text;

/**
 * One record of RFC 4180, for a spreadsheet unless it is said. Numbers are written as they are: a number is no formula,
 * also when it is negative.
 */
export function csvRecord(cells: readonly Cell[], write: TextWriter = guardFormula): string {
  return `${cells.map((cell) => csvField(cell, write)).join(',')}\r\n`;
}

/**
 * The record of a submission: what `csvRecord` makes of its `bodyCells`, in half of the time. Its id, its status and
 * its times are neither formulas nor quoted, and no list is made of the cells.
 */
export function csvSubmission(
  columns: readonly Column[],
  submission: ExportedSubmission,
  write: TextWriter = guardFormula,
): string {
  const { id, status, created_at, completed_at, reference } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  let record = `${id},${status},${created_at},${completed_at ?? ''},`;
  for (const column of columns)
    for (const cell of answerCells(own(answers, column.id), column)) record += `${csvField(cell, write)},`;
  return `${record}${csvField(referenceCell(reference), write)}\r\n`;
}

function csvField(cell: Cell, write: TextWriter): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  return csvCell(typeof cell === 'string' ? write(cell) : cell.toISOString());
}

/** The kinds of file that submissions are exported as. */
type ExportFormat = 'csv' | 'xlsx' | 'ndjson';
export const exportFormats = ['csv', 'xlsx', 'ndjson'] as const satisfies ExportFormat[];

/** Their media types. */
export const exportTypes = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
} as const satisfies Record<ExportFormat, string>;

/** A submission as a line of JSON: its answers as the API has them, by element id, those of `columns` in their order. */
export function ndjsonLine(columns: readonly Column[], submission: ExportedSubmission): string {
  const { id, status, created_at, completed_at } = submission;
  const answers = JSON.parse(submission.answers) as Answers;
  const reference = JSON.parse(submission.reference) as object;
  const chosen = columns.flatMap(({ id }) => {
    const answer = own(answers, id);
    return answer === undefined ? [] : [[id, answer] as const];
  });
  const line = { id, status, reference, created_at, completed_at, answers: Object.fromEntries(chosen) };
  return `${JSON.stringify(line)}\n`;
}

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
    const record = csvRecord(headCells(source.columns), write);
    const head = forSpreadsheet ? `\uFEFF${guardedHead}${record.slice(fixedHeads[0].length)}` : record;
    return readText(head, source, (submission) => csvSubmission(source.columns, submission, write));
  },
  ndjson: (source) => readText('', source, (submission) => ndjsonLine(source.columns, submission)),
  xlsx: (source) => xlsxStream(rowsOf(source)),
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

/** A turn at a time, as it goes to the thread that writes it. */
async function* rowsOf(source: Source): AsyncGenerator<readonly (readonly Cell[])[]> {
  yield [headCells(source.columns)];
  for await (const turn of inTurns(source))
    yield turn.map((submission) => bodyCells(source.columns, submission));
}

/** Exports of one workspace that this process writes at once. */
const exportsAtOnce = 2;
const { enter } = fewAtOnce(exportsAtOnce, {
  seconds: 10,
  why: `A workspace makes ${exportsAtOnce} exports at once.`,
});

/**
 * Begins an export that counts until its stream is closed, also by a reader who went away.
 * @throws ApiError rate_limit_exceeded while the workspace has as many as it may.
 */
export function oneOfFew(workspaceId: string, begin: () => Readable): Readable {
  const leave = enter(workspaceId);
  try {
    return begin().once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
}
