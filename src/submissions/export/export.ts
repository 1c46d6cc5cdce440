import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Column } from '../columns.ts';
import {
  bodyCells,
  type Cell,
  type ExportedSubmission,
  fixedHeads,
  guardedHead,
  headCells,
} from './cells.ts';
import { guardFormula } from '#ast/csv.ts';
import { asItIs, csvRecord, csvSubmission } from './csv.ts';
import type { ExportFormat } from './formats.ts';
import { xlsxStream } from './xlsx.ts';
import type { Answers } from '#ast/answers.ts';
import { own } from '#ast/json.ts';

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
