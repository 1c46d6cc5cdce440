import { Readable } from 'node:stream';
import { ReadableStream, TransformStream, type WritableStream } from 'node:stream/web';
import { Worker } from 'node:worker_threads';
import type { ExportCell } from './cells.ts';

/** The value of a sheet cell; null for an empty cell. */
type XlsxCell = string | number | Date | null;

/** A task for the thread: rows, which it reads in batches as needed, and the stream for their file. */
export type XlsxTask = {
  readonly rows: ReadableStream<readonly XlsxCell[][]>;
  readonly file: WritableStream<Uint8Array>;
};

/** The thread that writes the workbooks of this process, and the files that it is writing. */
type Writer = { readonly thread: Worker; readonly files: Set<Readable> };
let writer: Writer | undefined;

/**
 * Streams rows as a workbook, written on a separate thread: the library writes each row without interruption,
 * however long it is, and loading the library would delay other requests. The thread starts with the first
 * workbook, and keeps the process alive only while it writes.
 * @param rows batches of rows, produced as the file is read; they end if the reader disconnects.
 */
export function xlsxStream(rows: AsyncIterable<readonly (readonly ExportCell[])[]>): Readable {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const task: XlsxTask = { rows: ReadableStream.from(asXlsx(rows)), file: writable };
  const { thread, files } = (writer ??= openWriter());
  thread.postMessage(task, [task.rows, task.file]);
  thread.ref();
  const file = Readable.fromWeb(readable);
  files.add(file);
  file.once('close', () => {
    files.delete(file);
    if (files.size === 0) thread.unref();
  });
  return file;
}

function openWriter(): Writer {
  const opened: Writer = { thread: new Worker(new URL('xlsx-thread.ts', import.meta.url)), files: new Set() };
  let reason: Error | undefined;
  opened.thread.unref();
  opened.thread.once('error', (error) => {
    reason = error;
  });
  opened.thread.once('exit', () => {
    if (writer === opened) writer = undefined;
    for (const file of opened.files) file.destroy(reason ?? new Error('The workbook thread has ended.'));
  });
  return opened;
}

async function* asXlsx(
  turns: AsyncIterable<readonly (readonly ExportCell[])[]>,
): AsyncGenerator<readonly XlsxCell[][]> {
  for await (const rows of turns) yield rows.map((cells) => cells.map(xlsxCell));
}

/** Excel's limit for the text of a cell. */
const longestCell = 32_767;

/**
 * Texts are stored as text, which is never calculated. A text that is too long for Excel is cut off, with a
 * notice. XML cannot contain control characters: `_x0007_` represents one, so in a text that looks like this,
 * the underscore is escaped.
 */
function xlsxCell(cell: ExportCell): XlsxCell {
  if (typeof cell !== 'string') return cell ?? null;
  return fitting(cell)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\uFFFE\uFFFF]/g, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase()}_`);
}

function fitting(text: string): string {
  if (text.length <= longestCell) return text;
  const notice = `… [Truncated: the text has ${text.length} characters, but an Excel cell can contain only ${longestCell}. Export as CSV or NDJSON to get the whole text.]`;
  return text.slice(0, longestCell - notice.length).toWellFormed() + notice;
}
