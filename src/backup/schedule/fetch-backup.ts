import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '#kit/make-directories.ts';
import type { Config } from '#kit/config.ts';
import { openBucket } from '#kit/s3-bucket.ts';
import { filesAway } from '#kit/storage.ts';
import { writerInto } from '../archive.ts';
import { BackupError } from '../backup-error.ts';
import { keyOf, spoolOf } from './places.ts';

const mostNamed = 10;

/**
 * Brings a backup from the bucket into a file of this disk that has no name: whatever ends this, nothing stays.
 * @throws BackupError with the names that there are, the newest first.
 */
export async function fetchBackup(
  config: Pick<Config, 's3' | 'dataDir' | 'limits'>,
  name: string,
): Promise<FileHandle> {
  if (!config.s3)
    throw new BackupError('A backup of the bucket takes S3_ENDPOINT, and the settings beside it.');
  const bucket = openBucket(config.s3);
  const content = name === '' ? undefined : await bucket.open(keyOf(name));
  if (!content) {
    const keys = (await bucket.list(keyOf(''))).map((key) => key.slice(keyOf('').length));
    const names = keys.toSorted().toReversed().slice(0, mostNamed);
    throw new BackupError(
      `${name === '' ? 'Say which one behind s3: the bucket' : `The bucket has no backup ${name}. It`} has ${names.join(', ') || 'none at all'}.`,
    );
  }
  await makeDirectories(spoolOf(config), 0o750);
  const path = join(spoolOf(config), 'restoring.backup');
  const file = await open(path, 'w+', 0o600);
  await rm(path);
  try {
    const write = writerInto(file, { path, leastRoom: config.limits.freeBytes });
    for await (const chunk of content as AsyncIterable<Buffer>) await write(chunk);
    return file;
  } catch (error) {
    await file.close();
    if (error instanceof BackupError) throw error;
    throw filesAway(`The bucket broke off amid ${name}: ${(error as Error).message}`, error);
  }
}
