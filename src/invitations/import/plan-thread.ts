import { parentPort, workerData } from 'node:worker_threads';
import { planImport } from './plan-import.ts';

/* The thread that plan-beside.ts starts: it reads one import, and ends. */
parentPort!.postMessage(planImport(...(workerData as Parameters<typeof planImport>)), []);
