import { parentPort, workerData } from 'node:worker_threads';
import { planImport } from './plan-import.ts';

/* The thread that plan-beside.ts starts: it reads one file, and ends. */
parentPort!.postMessage(await planImport(...(workerData as Parameters<typeof planImport>)), []);
