import { parentPort, workerData } from 'node:worker_threads';
import { newWork } from '#ast/work.ts';
import { convertTold, type FormSource } from './convert.ts';

/* The thread that read-document.ts starts: it converts one document, and ends. */

/** Nobody waits behind it, so it may do more than is done while others wait: some 0.3 s. A form of 1,000 questions with 40 options each takes 6. */
const timesAsMuch = 8;

const [text, source] = workerData as [text: string, source: FormSource];
const work = newWork();
work.left *= timesAsMuch;
parentPort!.postMessage(convertTold(JSON.parse(text) as Readonly<Record<string, unknown>>, source, work), []);
