import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';

/** Where the bytes of uploads lie: a disk or an object store. Keys are made by us, never by a visitor. */
export type Storage = {
  /**
   * Stores a stream. When it returns, the bytes survive a power cut; when it throws, nothing is kept.
   * @returns the size, and the first bytes, by which the content type is recognised.
   * @throws ApiError payload_too_large past `limit` bytes, service_unavailable when the disk takes no more.
   */
  put(key: string, source: Readable, limit: number): Promise<{ size: number; head: Buffer }>;
  /** The bytes as a stream; undefined when there are none under this key. */
  open(key: string): Promise<Readable | undefined>;
  /** Removes the bytes; a key that is not there is fine. */
  remove(key: string): Promise<void>;
  /** Whether the disk that is written to has room for another upload. */
  hasRoom(): Promise<boolean>;
};

/** Enough for every signature that file-type knows. */
export const headBytes = 4_100;

export const tooLarge = (limit: number): ApiError =>
  new ApiError(
    'payload_too_large',
    `A file is larger than the ${Math.floor(limit / 1024 / 1024)} MB that are allowed.`,
  );

/** A place of files that cannot be used now, as an answer; the log, and the operator's command, say why. */
export const filesAway = (why: string, cause: unknown): ApiError =>
  new ApiError('service_unavailable', 'Files cannot be stored or read right now. Try again later.', {
    retryAfter: 60,
    cause: new Error(why, { cause }),
  });

/** The same of a disk that takes no more. */
export const diskRefused = (path: string, cause: Error): ApiError =>
  filesAway(`${path} cannot be written: ${cause.message}`, cause);
