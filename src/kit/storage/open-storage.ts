import { join } from 'node:path';
import type { Config } from '../config.ts';
import { diskStorage, type Storage } from '../storage.ts';
import { openBucket } from './s3-bucket.ts';

/**
 * Stores uploads in an S3-compatible bucket. A stream is first written to `spoolDirectory`, to know its size,
 * enforce its limit and keep memory use constant. Then the file is sent.
 */
export function s3Storage(
  settings: NonNullable<Config['s3']>,
  spoolDirectory: string,
  leastRoom: number,
): Storage {
  const bucket = openBucket(settings);
  const spool = diskStorage(spoolDirectory, leastRoom);
  return {
    async put(key, source, limit) {
      const written = await spool.put(key, source, limit);
      try {
        await bucket.send(key, join(spoolDirectory, key));
        return written;
      } finally {
        await spool.remove(key);
      }
    },
    open: (key) => bucket.open(key),
    async remove(key) {
      await bucket.remove(key);
      // A process that was killed while sending may have left this file.
      await spool.remove(key);
    },
    hasRoom: () => spool.hasRoom(),
  };
}

/** Opens the object storage if configured, otherwise files in the data directory. */
export const openStorage = (config: Config): Storage =>
  config.s3
    ? s3Storage(config.s3, join(config.dataDir, 'spool'), config.limits.freeBytes)
    : diskStorage(join(config.dataDir, 'uploads'), config.limits.freeBytes);

/** Returns the location of the storage for display. */
export const describeStorage = (config: Config): string =>
  config.s3
    ? new URL(config.s3.endpoint).host + new URL(config.s3.endpoint).pathname
    : join(config.dataDir, 'uploads');
