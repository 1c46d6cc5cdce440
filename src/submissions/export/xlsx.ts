import { Readable } from 'node:stream';
import { ReadableStream, TransformStream, type WritableStream } from 'node:stream/web';
import { Worker } from 'node:worker_threads';
import type { Cell } from './cells.ts';

/** What a cell of a sheet holds; null is an empty one. */
type XlsxCell = string | number | Date | null;

/** What the thread is sent: rows, which it takes some at a time as it needs them, and where their file goes. */
export type XlsxTask = {
  readonly rows: ReadableStream<readonly XlsxCell[][]>;
  readonly file: WritableStream<Uint8Array>;
};

/** The thread that writes the files of this process, and all that it is at. */
type Writer = { readonly thread: Worker; readonly files: Set<Readable> };
let writer: Writer | undefined;

/**
 * Rows as a workbook, written on a thread of its own: the library writes a row at once, however long it is, and to load
 * it takes longer than others may wait. The thread is there from the first workbook on, and keeps a process from its end
 * only while it writes.
 * @param rows some at a time, made as the file is read; a reader that goes away ends them.
 */
export function xlsxStream(rows: AsyncIterable<readonly (readonly Cell[])[]>): Readable {
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
    for (const file of opened.files) file.destroy(reason ?? new Error('The thread of workbooks has ended.'));
  });
  return opened;
}

async function* asXlsx(
  turns: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<readonly XlsxCell[][]> {
  for await (const rows of turns) yield rows.map((cells) => cells.map(xlsxCell));
}

/** Excel's limit for the text of one cell. */
const longestCell = 32_767;

/**
 * Texts are stored as texts, which are never calculated. What Excel cannot hold is said where it is left out. A format of
 * XML has no control characters: `_x0007_` stands for one, so that a text which looks like that has its underscore
 * written so.
 */
function xlsxCell(cell: Cell): XlsxCell {
  if (typeof cell !== 'string') return cell ?? null;
  return fitting(cell)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\uFFFE\uFFFF]/g, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase()}_`);
}

function fitting(text: string): string {
  if (text.length <= longestCell) return text;
  const notice = `… [Cut: of ${text.length} characters Excel holds ${longestCell} in a cell. An export as CSV or NDJSON has all of them.]`;
  return text.slice(0, longestCell - notice.length).toWellFormed() + notice;
}
