import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ClientBase, Pool } from 'pg';
import { type Database, databaseOf, isDiskFull } from './database.ts';
import { ApiError } from './errors.ts';
import { makeDirectories } from './make-directories.ts';
import { syncDirectory } from './sync-directory.ts';

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

const tooLarge = (limit: number): ApiError =>
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
const diskRefused = (path: string, cause: Error): ApiError =>
  filesAway(`${path} cannot be written: ${cause.message}`, cause);

/** The disk that a folder lies on, in bytes; whether it takes another file. @throws Error where there is no such folder. */
export async function readDisk(folder: string): Promise<{ free: number; size: number; takesFiles: boolean }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  // Some file systems have no number of files that they are made for.
  return { free: bavail * bsize, size: blocks * bsize, takesFiles: files === 0 || ffree > 0 };
}

/** What a disk says that takes no more: full, over its quota or its largest file, read-only, broken. */
const refusals = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'];

/** People's files are read by the user that runs the service, and at most listed by its group, whatever the umask is. */
const directoryMode = 0o750;

/** How often a disk is asked for its room while a file is written to it. */
const bytesBetween = 1024 * 1024;

/**
 * Uploads as files under one directory. `a/b` as a key becomes a path below it.
 * @param leastRoom bytes that stay free: with less, the disk counts as full.
 */
export function diskStorage(directory: string, leastRoom: number): Storage {
  const hasRoom = async (): Promise<boolean> => {
    try {
      await makeDirectories(directory, directoryMode);
    } catch (error) {
      if (hasCode(error, ...refusals)) return false;
      throw error;
    }
    const { free, takesFiles } = await readDisk(directory);
    return free >= leastRoom && takesFiles;
  };
  return {
    hasRoom,
    async put(key, source, limit) {
      const path = join(directory, key);
      const draft = `${path}.part`;
      try {
        await makeDirectory(dirname(path));
        const written = await writeDurably(draft, limit, inRoom(source, path, hasRoom));
        await rename(draft, path);
        await syncDirectory(dirname(path));
        return written;
      } catch (error) {
        await rm(draft, { force: true });
        throw hasCode(error, ...refusals) ? diskRefused(path, error) : error;
      }
    },
    async open(key) {
      try {
        // Opened here and not by the stream: from now on the bytes stay readable, even when they are removed.
        const file = await open(join(directory, key), 'r');
        return file.createReadStream();
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    async remove(key) {
      await rm(join(directory, key), { force: true });
      await rm(`${join(directory, key)}.part`, { force: true });
    },
  };
}

/** Makes a directory and what lacks above it, each written down in the one above: a path must survive as bytes do. */
async function makeDirectory(path: string): Promise<void> {
  const first = await makeDirectories(path, directoryMode);
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** The bytes as they come, while the disk has room. @throws ApiError service_unavailable when it has none left. */
async function* inRoom(
  source: Readable,
  path: string,
  hasRoom: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  let askAt = 0;
  let bytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (bytes >= askAt) {
      if (!(await hasRoom())) throw diskRefused(path, new Error('there is less free than has to stay free'));
      askAt = bytes + bytesBetween;
    }
    bytes += chunk.length;
    yield chunk;
  }
}

async function writeDurably(
  path: string,
  limit: number,
  source: AsyncIterable<Buffer>,
): Promise<{ size: number; head: Buffer }> {
  const file: FileHandle = await open(path, 'w', 0o600);
  try {
    let size = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes);
      // Not `write`: where the disk becomes full within a chunk, that writes a part of it and says nothing.
      await file.writeFile(chunk);
    }
    // Bytes first, then the name (rename and directory): a name never leads to bytes that are not there.
    await file.sync();
    return { size, head };
  } finally {
    await file.close();
  }
}

const hasCode = (error: unknown, ...codes: string[]): error is Error =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Databases whose disk was full when something was last written there. */
const full = new WeakSet<Database>();

/** Notes why a statement failed. */
export const noteFullDisk = (db: Pool | ClientBase, error: unknown): void => {
  if (isDiskFull(error)) full.add(databaseOf(db));
};

/** Whether the disk of a database is full. It is asked for only when a statement found it so, until there is room again. */
export async function hasFullDisk(database: Database): Promise<boolean> {
  if (!full.has(database)) return false;
  if (await takesMore(database)) full.delete(database);
  return full.has(database);
}

/** Whether a database has room for 1 MB: tried with a table that is gone with its connection. */
export async function takesMore(database: Database): Promise<boolean> {
  try {
    const client = await database.connect();
    try {
      await client.query(
        "create temporary table room as select repeat('x', 1000) from generate_series(1, 1000)",
      );
    } finally {
      client.release(true);
    }
    return true;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}
