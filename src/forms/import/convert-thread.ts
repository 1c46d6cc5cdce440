import { parentPort, workerData } from 'node:worker_threads';
import { convertTold, type FormSource } from './convert.ts';

/* The thread that read-document.ts starts: it converts one document, and ends. */
const [text, source] = workerData as [text: string, source: FormSource];
parentPort!.postMessage(convertTold(JSON.parse(text) as Readonly<Record<string, unknown>>, source), []);
