import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import type { ThreadResult, ThreadTask } from './run-in-thread.ts';

/* The thread that run-in-thread.ts starts: it calls one function, sends the result, and ends. */

type Functions = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

const { module, name, given } = workerData as ThreadTask<string>;
const send = (answer: ThreadResult): void => parentPort!.postMessage(answer, []);

try {
  const functions = (await import(module)) as Functions;
  send({ value: await functions[name]!(...given) });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  const { code, message, errors } = error;
  send({ refusal: { code, message, errors } });
}
