import type { ReadableStream } from 'node:stream/web';
import { parentPort } from 'node:worker_threads';
import { writeXlsxStream } from 'hucre/xlsx';
import type { XlsxTask } from './xlsx.ts';

/*
 * The thread that xlsx.ts starts. It writes a workbook for each task while the rows arrive. If a client
 * disconnects or its rows fail, only its workbook ends.
 */
parentPort!.on('message', ({ rows, file }: XlsxTask) => {
  writeXlsxStream(oneByOne(rows), { name: 'Submissions', freezePane: { rows: 1 } })
    .pipeTo(file)
    .catch(() => {
      // Both ends of the pipe already have the error; the file's reader reports it.
    });
});

async function* oneByOne<Row>(turns: ReadableStream<readonly Row[]>): AsyncGenerator<Row> {
  for await (const turn of turns) yield* turn;
}
