import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3mini } from 's3mini';
import type { Config } from '../config.ts';
import { formatWithCause } from '../errors.ts';
import { type ByteRange, storageUnavailable } from '../storage.ts';

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
