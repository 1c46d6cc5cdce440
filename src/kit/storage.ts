import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';

/** Where the bytes of uploads lie: a disk or an object store. Keys are made by us, never by a visitor. */
export type Storage = {
  /**
   * Stores a stream. When it returns, the bytes survive a power cut; when it throws, nothing is kept.
   * @returns the size, and the first bytes, by which the content type is recognised.
   * @throws ApiError payload_too_large past `limit` bytes.
   */
  put(key: string, source: Readable, limit: number): Promise<{ size: number; head: Buffer }>;
  /** The bytes as a stream; undefined when there are none under this key. */
  open(key: string): Promise<Readable | undefined>;
  /** Removes the bytes; a key that is not there is fine. */
  remove(key: string): Promise<void>;
};

/** Enough for every signature that file-type knows. */
export const headBytes = 4_100;

export const tooLarge = (limit: number): ApiError =>
  new ApiError(
    'payload_too_large',
    `A file is larger than the ${Math.floor(limit / 1024 / 1024)} MB that are allowed.`,
  );
