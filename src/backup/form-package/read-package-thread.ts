import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '#kit/errors.ts';
import { type PackageText, readPackage } from './read-package.ts';
import type { PackageAnswer } from './read-package-beside.ts';

/* The thread that read-package-beside.ts starts: it reads one package, and ends. */

const answer = (read: PackageAnswer, images: PackageText['images'] = []): void =>
  parentPort!.postMessage(
    read,
    images.map(({ buffer }) => buffer),
  );

try {
  const read = await readPackage(workerData as Uint8Array);
  answer(read, read.images);
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  const { code, message, errors } = error;
  answer({ code, message, ...(errors && { errors }) });
}
