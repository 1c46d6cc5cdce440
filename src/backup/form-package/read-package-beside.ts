import { answerOfThread } from '#kit/answer-of-thread.ts';
import { ApiError, type ErrorCode, type ErrorItem } from '#kit/errors.ts';
import type { PackageText } from './read-package.ts';

/** A refusal by the thread. An ApiError would arrive as a plain Error. */
type Refusal = { code: ErrorCode; message: string; errors?: readonly ErrorItem[] };
export type PackageAnswer = PackageText | Refusal;

/** A package at every limit takes 2 s and 150 MB of heap on one slow core. */
const limits = {
  megabytes: 256,
  ms: 20_000,
  tooMuch: {
    code: 'validation_error',
    message: 'Reading the file takes too much time or memory. Export the form again.',
  },
} as const;

/** Runs readPackage on a thread with limits of time and memory. @throws as readPackage; ApiError rate_limit_exceeded. */
export async function readPackageBeside(workspaceId: string, bytes: Uint8Array): Promise<PackageText> {
  const module = new URL('read-package-thread.ts', import.meta.url);
  const read = await answerOfThread<PackageAnswer>(workspaceId, module, bytes, limits);
  if (!('code' in read)) return read;
  const { code, message, errors } = read;
  throw new ApiError(code, message, errors && { errors });
}
