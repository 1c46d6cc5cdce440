import { join } from 'node:path';
import type { Config } from '../config.ts';
import { diskStorage, pieceBytes, piecesLost, type Storage } from '../storage.ts';
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
  /** Writes a stream to the spool, and calls `send` with the path and the size. */
  const spooled = async (
    key: string,
    source: AsyncIterable<Buffer>,
    limit: number,
    send: (path: string, size: number) => Promise<void>,
  ) => {
    const written = await spool.put(key, source, limit);
    try {
      await send(join(spoolDirectory, key), written.size);
      return written;
    } finally {
      await spool.remove(key);
    }
  };
  /** Opens the bytes after the last full part of an upload. They are an object, because parts must be large. */
  const openRest = (key: string, bytes: number) => bucket.open(restOf(key), { start: 0, end: bytes - 1 });
  return {
    put: (key, source, limit) => spooled(key, source, limit, (path) => bucket.send(key, path)),
    async append(key, { size, id: begun, tags: sent = [] }, source) {
      const id = begun ?? (await bucket.beginParts(key));
      const tags = [...sent];
      const rest = size % pieceBytes;
      const joined = rest === 0 ? source : joinStreams(await openRest(key, rest), source);
      const written = await spooled(key, joined, pieceBytes, async (path, bytes) => {
        if (bytes < pieceBytes) await bucket.send(restOf(key), path);
        else tags.push(await bucket.sendPart(key, { id, number: tags.length + 1, path }));
      });
      return { size: size - rest + written.size, id, tags };
    },
    async finish(key, { size, id = '', tags: sent = [] }) {
      const tags = [...sent];
      const rest = size % pieceBytes;
      if (rest > 0 && !(await bucket.has(key)))
        await spooled(key, joinStreams(await openRest(key, rest)), rest, async (path) => {
          tags.push(await bucket.sendPart(key, { id, number: tags.length + 1, path }));
        });
      await bucket.endParts(key, id, tags);
      await bucket.remove(restOf(key));
    },
    open: (key, range) => bucket.open(key, range),
    async remove(key, stored) {
      await bucket.remove(key);
      if (stored?.id !== undefined) {
        await bucket.discardParts(key, stored.id);
        await bucket.remove(restOf(key));
      }
      // A process that was killed while sending may have left this file.
      await spool.remove(key);
    },
    hasRoom: () => spool.hasRoom(),
  };
}

const restOf = (key: string): string => `${key}.part`;

async function* joinStreams(...streams: (AsyncIterable<Buffer> | undefined)[]): AsyncGenerator<Buffer> {
  for (const stream of streams) {
    if (!stream) throw piecesLost();
    yield* stream;
  }
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
