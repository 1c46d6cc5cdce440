import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3mini } from 's3mini';
import type { Config } from '../config.ts';
import { sayWithCause } from '../errors.ts';
import { filesAway } from '../storage.ts';

/** A bucket takes no more parts of one object. */
const mostParts = 10_000;
const leastPart = 8 * 1024 * 1024;

/** A bucket that is busy is asked again after so long each; one that says nothing for longer than that is not. */
const pausesMs = [200, 1_000];
const longestAskMs = 5_000;

/** What lies in an S3-compatible bucket, by its keys. All throw ApiError service_unavailable where it refuses or is away. */
export type Bucket = {
  /** Sends a file of this disk, in parts when it is large. */
  send(key: string, path: string): Promise<void>;
  /** The bytes as a stream; undefined when there are none under this key. */
  open(key: string): Promise<Readable | undefined>;
  /** Removes the bytes; a key that is not there is fine. */
  remove(key: string): Promise<void>;
  /** All keys that begin so. */
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
      if (pauseMs === undefined || performance.now() - since > longestAskMs || !mayPass(error)) {
        const why = `The bucket at ${host}${pathname} does not do what it is asked: ${sayWithCause(error as Error)}`;
        throw filesAway(why, error);
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
        // That it could not put the parts together S3 says within an answer that is a success in all else.
        if (content.size > minPartSize && !headers.get('ETag'))
          throw new Error('it took all parts, and does not say that it has the whole');
      });
    },
    async open(key) {
      const response = await ask(() => bucket.getObjectResponse(key));
      return response?.body ? Readable.from(response.body, { objectMode: false }) : undefined;
    },
    async remove(key) {
      await ask(() => bucket.deleteObject(key));
    },
    async list(prefix) {
      // Without a slash behind the bucket's name, where that is in the path: some servers sign it otherwise. What s3mini calls the delimiter is the path.
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

/** Whether an error is one of a moment: the store has too much to do, or a connection was lost. What it refuses it refuses again. */
const mayPass = (error: unknown): boolean => {
  const { status } = error as { status?: number };
  return status === undefined || status >= 500 || status === 429;
};
