import type { ReadableStream } from 'node:stream/web';
import { parentPort } from 'node:worker_threads';
import { writeXlsxStream } from 'hucre/xlsx';
import type { XlsxTask } from './xlsx.ts';

/*
 * The thread that xlsx.ts starts: a workbook for each task, written while its rows come. Whoever takes the file away, or
 * fails to give rows, ends that one alone.
 */
parentPort!.on('message', ({ rows, file }: XlsxTask) => {
  writeXlsxStream(oneByOne(rows), { name: 'Submissions', freezePane: { rows: 1 } })
    .pipeTo(file)
    .catch(() => {
      // Both ends of the pipe know it: the file's reader has the error.
    });
});

async function* oneByOne<Row>(turns: ReadableStream<readonly Row[]>): AsyncGenerator<Row> {
  for await (const turn of turns) yield* turn;
}
