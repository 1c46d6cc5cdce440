import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3mini } from 's3mini';
import type { Config } from '../config.ts';
import { formatWithCause } from '../errors.ts';
import {
  type ByteRange,
  diskStorage,
  pieceBytes,
  piecesLost,
  type Storage,
  storageUnavailable,
} from '../storage.ts';

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

/** The S3 limit of parts per object. */
const mostParts = 10_000;
const leastPart = 8 * 1024 * 1024;

/** The pauses before retries of a busy bucket. Requests longer than `longestRequestMs` are not retried. */
const pausesMs = [200, 1_000];
const longestRequestMs = 5_000;

/**
 * The objects of an S3-compatible bucket, by key. All functions throw ApiError service_unavailable if it
 * rejects the request or is unavailable.
 */
export type Bucket = {
  /** Sends a local file, in parts if it is large. */
  send(key: string, path: string): Promise<void>;
  /** Begins an object that is sent in parts. Returns the id of the parts. */
  beginParts(key: string): Promise<string>;
  /** Sends a local file as a part; the first has the number 1. Returns its tag. */
  sendPart(key: string, part: { id: string; number: number; path: string }): Promise<string>;
  /** Makes the object from its parts. It can be repeated. */
  endParts(key: string, id: string, tags: readonly string[]): Promise<void>;
  /** Deletes parts that are not yet an object. Missing ones are not an error. */
  discardParts(key: string, id: string): Promise<void>;
  has(key: string): Promise<boolean>;
  /** Returns the object as a stream, or undefined if it does not exist. */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Deletes an object. A missing one is not an error. */
  remove(key: string): Promise<void>;
  list(prefix: string): Promise<string[]>;
};

export function openBucket(settings: NonNullable<Config['s3']>): Bucket {
  const bucket = new S3mini(settings);
  const { host, pathname } = new URL(settings.endpoint);
  const ask = async <Answer>(question: () => Promise<Answer>, pauses = pausesMs): Promise<Answer> => {
    const since = performance.now();
    try {
      return await question();
    } catch (error) {
      const [pauseMs, ...later] = pauses;
      if (pauseMs === undefined || performance.now() - since > longestRequestMs || !isRetryable(error)) {
        const why = `A request to the bucket at ${host}${pathname} failed: ${formatWithCause(error as Error)}`;
        throw storageUnavailable(why, error);
      }
      await sleep(pauseMs);
      return ask(question, later);
    }
  };
  return {
    async send(key, path) {
      const content = await openAsBlob(path);
      const minPartSize = Math.max(leastPart, Math.ceil(content.size / mostParts));
      const sender = new S3mini({ ...settings, minPartSize });
      await ask(async () => {
        const { headers } = await sender.putAnyObject(key, content);
        if (content.size > minPartSize && !headers.get('ETag')) throw new Error(unconfirmed);
      });
    },
    beginParts: (key) => ask(() => bucket.getMultipartUploadId(key)),
    async sendPart(key, { id, number, path }) {
      const content = await openAsBlob(path);
      return ask(async () => (await bucket.uploadPart(key, id, content, number)).etag);
    },
    endParts: (key, id, tags) =>
      ask(async () => {
        if ((await bucket.objectExists(key)) === true) return;
        const parts = tags.map((etag, index) => ({ partNumber: index + 1, etag }));
        const { etag } = await bucket.completeMultipartUpload(key, id, parts);
        if (!etag) throw new Error(unconfirmed);
      }),
    async discardParts(key, id) {
      // A store that cannot discard parts deletes them by age.
      await ask(() => bucket.abortMultipartUpload(key, id).catch(ignoreStatus(404, 405, 501)));
    },
    has: async (key) => (await ask(() => bucket.objectExists(key))) === true,
    async open(key, range) {
      const response = await ask(() =>
        range
          ? bucket.getObjectRaw(key, false, range.start, range.end + 1).catch(ignoreStatus(404))
          : bucket.getObjectResponse(key),
      );
      return response?.body ? Readable.from(response.body, { objectMode: false }) : undefined;
    },
    async remove(key) {
      await ask(() => bucket.deleteObject(key));
    },
    async list(prefix) {
      // Some servers sign a trailing slash differently, so the path has none. s3mini's `delimiter` is the
      // path.
      const [, endpoint, name] = /^(.*[^/])\/([^/]+)\/*$/.exec(settings.endpoint) ?? [];
      const found = await ask(() =>
        endpoint && name
          ? new S3mini({ ...settings, endpoint }).listObjects(name, prefix)
          : bucket.listObjects('/', prefix),
      );
      return (found ?? []).map(({ Key }) => Key);
    },
  };
}

/** If S3 cannot combine the parts, it says so only in the body of a 200. */
const unconfirmed = 'it received all parts but did not confirm the complete file';

/** Creates a handler that throws errors of all other statuses. */
const ignoreStatus =
  (...statuses: readonly number[]) =>
  (error: unknown): undefined => {
    if (!statuses.includes((error as { status: number }).status)) throw error;
  };

/** Returns whether a retry can help: the store is busy, or the connection was lost. */
const isRetryable = (error: unknown): boolean => {
  const { status } = error as { status?: number };
  return status === undefined || status >= 500 || status === 429;
};
