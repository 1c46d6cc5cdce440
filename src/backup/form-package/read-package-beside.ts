import { ApiError } from '#kit/errors.ts';
import { runInThread } from '#kit/run-in-thread.ts';
import type { PackageText, readPackage } from './read-package.ts';

/** A package at every limit takes 2 s and 150 MB of heap on one slow core. */
const limits = { megabytes: 256, ms: 20_000, tooMuch: undefined } as const;

/** Runs readPackage on a thread with limits of time and memory. @throws as readPackage; ApiError rate_limit_exceeded. */
export async function readPackageBeside(workspaceId: string, bytes: Uint8Array): Promise<PackageText> {
  const module = new URL('read-package.ts', import.meta.url);
  const given: Parameters<typeof readPackage> = [bytes];
  const read = await runInThread<PackageText | undefined>(
    workspaceId,
    { module, name: 'readPackage', given },
    limits,
  );
  if (read) return read;
  throw new ApiError(
    'validation_error',
    'Reading the file takes too much time or memory. Export the form again.',
  );
}
