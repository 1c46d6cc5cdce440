import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { S3mini } from 's3mini';
import type { Config } from './config.ts';
import { diskStorage } from './disk-storage.ts';
import type { Storage } from './storage.ts';

/**
 * Uploads in an S3-compatible bucket. A stream is first written to `spoolDirectory`, so that its size is known, its
 * limit is kept, and memory stays flat; then the file is sent, in parts when it is large.
 */
export function s3Storage(
  settings: NonNullable<Config['s3']>,
  spoolDirectory: string,
  leastRoom: number,
): Storage {
  const bucket = new S3mini(settings);
  const spool = diskStorage(spoolDirectory, leastRoom);
  return {
    async put(key, source, limit) {
      const written = await spool.put(key, source, limit);
      try {
        await bucket.putAnyObject(key, await openAsBlob(join(spoolDirectory, key)));
        return written;
      } finally {
        await spool.remove(key);
      }
    },
    async open(key) {
      const response = await bucket.getObjectResponse(key);
      return response?.body ? Readable.fromWeb(response.body) : undefined;
    },
    async remove(key) {
      await bucket.deleteObject(key);
      // A process that died while it sent the file left it here.
      await spool.remove(key);
    },
    hasRoom: () => spool.hasRoom(),
  };
}
