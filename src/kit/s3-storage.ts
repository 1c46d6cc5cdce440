import { join } from 'node:path';
import type { Config } from './config.ts';
import { diskStorage } from './disk-storage.ts';
import { openBucket } from './s3-bucket.ts';
import type { Storage } from './storage.ts';

/**
 * Uploads in an S3-compatible bucket. A stream is first written to `spoolDirectory`, so that its size is known, its
 * limit is kept, and memory stays flat; then the file is sent.
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
      // A process that died while it sent the file left it here.
      await spool.remove(key);
    },
    hasRoom: () => spool.hasRoom(),
  };
}
