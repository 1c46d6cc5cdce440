import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { S3mini } from 's3mini';
import type { Config } from './config.ts';

/** A bucket takes no more parts of one object. */
const mostParts = 10_000;
const leastPart = 8 * 1024 * 1024;

/** What lies in an S3-compatible bucket, by its keys. */
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
  return {
    async send(key, path) {
      const content = await openAsBlob(path);
      const minPartSize = Math.max(leastPart, Math.ceil(content.size / mostParts));
      const sender = minPartSize > leastPart ? new S3mini({ ...settings, minPartSize }) : bucket;
      await sender.putAnyObject(key, content);
    },
    async open(key) {
      const response = await bucket.getObjectResponse(key);
      return response?.body ? Readable.fromWeb(response.body) : undefined;
    },
    async remove(key) {
      await bucket.deleteObject(key);
    },
    async list(prefix) {
      // Without a slash behind the bucket's name, where that is in the path: some servers sign it otherwise. What s3mini calls the delimiter is the path.
      const [, endpoint, name] = /^(.*[^/])\/([^/]+)\/*$/.exec(settings.endpoint) ?? [];
      const found = await (endpoint && name
        ? new S3mini({ ...settings, endpoint }).listObjects(name, prefix)
        : bucket.listObjects('/', prefix));
      return (found ?? []).map(({ Key }) => Key);
    },
  };
}
