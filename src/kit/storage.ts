import { type FileHandle, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ClientBase, Pool } from 'pg';
import { type Database, databaseOf, isDiskFull } from './database.ts';
import { makeDirectories, syncDirectory } from './directories.ts';
import { ApiError } from './errors.ts';

/**
 * The size of a piece of an upload that arrives in pieces, and of a part in an object store. S3 requires parts of
 * at least 5 MB, and Cloudflare R2 requires equal ones.
 */
export const pieceBytes = 8 * 1024 * 1024;

/** The stored bytes of an upload that arrives in pieces. `id` and `tags` name its parts in an object store. */
export type StoredPieces = { readonly size: number; readonly id?: string; readonly tags?: readonly string[] };

/** The positions of the first and the last byte. */
export type ByteRange = { readonly start: number; readonly end: number };

/** Stores the bytes of uploads on a disk or in an object store. Keys never come from a visitor. */
export type Storage = {
  /**
   * Stores a stream. After it returns, the bytes survive a power failure; if it throws, nothing is kept.
   * @returns the size, and the first bytes, which identify the content type.
   * @throws ApiError payload_too_large above `limit` bytes, service_unavailable if the disk accepts no more.
   */
  put(key: string, source: AsyncIterable<Buffer>, limit: number): Promise<{ size: number; head: Buffer }>;
  /**
   * Adds bytes to an upload, up to the next multiple of `pieceBytes` at most. After it returns, they survive a
   * power failure.
   * @throws ApiError gone if the bytes in `stored` are lost, service_unavailable as `put` does.
   */
  append(key: string, stored: StoredPieces, source: AsyncIterable<Buffer>): Promise<StoredPieces>;
  /** Makes the object of an upload that is complete. It can be repeated after a crash. */
  finish(key: string, stored: StoredPieces): Promise<void>;
  /** Returns the bytes as a stream, or undefined if the key does not exist. */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Deletes the bytes, also those of an incomplete upload. A missing key is not an error. */
  remove(key: string, stored?: StoredPieces): Promise<void>;
  /** Returns whether the disk has room for an upload of this size. */
  hasRoom(bytes?: number): Promise<boolean>;
};

/** Enough bytes for every signature that file-type knows. */
export const fileSignatureBytes = 4_100;

const tooLarge = (limit: number): ApiError =>
  new ApiError(
    'payload_too_large',
    `A file is larger than the limit of ${Math.floor(limit / 1024 / 1024)} MB.`,
  );

/** Creates the error for an unavailable file storage. Only the log and the command line show the cause. */
export const storageUnavailable = (why: string, cause: unknown): ApiError =>
  new ApiError('service_unavailable', 'Files cannot be stored or read right now. Try again later.', {
    retryAfter: 60,
    cause: new Error(why, { cause }),
  });

/** Creates the error for an upload whose stored bytes are missing, for example after a restore. */
export const piecesLost = (): ApiError => new ApiError('gone', 'This upload is lost. Upload the file again.');

/** Creates the error for a disk that accepts no more data. */
const diskRefused = (path: string, cause: Error): ApiError =>
  storageUnavailable(`${path} cannot be written: ${cause.message}`, cause);

/**
 * Returns the free space and size of a folder's disk in bytes, and whether it can store another file. @throws
 * Error if the folder does not exist.
 */
export async function readDiskSpace(
  folder: string,
): Promise<{ free: number; size: number; takesFiles: boolean }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  // Some file systems have no fixed number of files.
  return { free: bavail * bsize, size: blocks * bsize, takesFiles: files === 0 || ffree > 0 };
}

/** The errors of a disk that accepts no more data: full, over a quota or size limit, read-only, broken. */
const refusals = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'];

/** Only the user of the service can read uploaded files; its group can list them, if the umask allows. */
const directoryMode = 0o750;

/** How many bytes are written between checks of free space. */
const bytesBetween = 1024 * 1024;

/**
 * Stores uploads as files in a directory. A key `a/b` is a path in it.
 * @param leastRoom bytes to keep free: with less, the disk counts as full.
 */
export function diskStorage(directory: string, leastRoom: number): Storage {
  const hasRoom = async (bytes = 0): Promise<boolean> => {
    try {
      await makeDirectories(directory, directoryMode);
    } catch (error) {
      if (hasCode(error, ...refusals)) return false;
      throw error;
    }
    const { free, takesFiles } = await readDiskSpace(directory);
    return free - bytes >= leastRoom && takesFiles;
  };
  const write = (path: string, limit: number, source: AsyncIterable<Buffer>, from = 0) =>
    refusing(path, async () => {
      await makeDirectory(dirname(path));
      return writeDurably(`${path}.part`, limit, limitToFreeSpace(source, path, hasRoom), from);
    });
  const publish = (path: string): Promise<void> =>
    refusing(path, async () => {
      await rename(`${path}.part`, path);
      await syncDirectory(dirname(path));
    });
  return {
    hasRoom,
    async put(key, source, limit) {
      const path = join(directory, key);
      try {
        const written = await write(path, limit, source);
        await publish(path);
        return written;
      } catch (error) {
        await rm(`${path}.part`, { force: true });
        throw error;
      }
    },
    async append(key, { size }, source) {
      const added = await write(join(directory, key), pieceBytes, source, size);
      return { size: size + added.size };
    },
    async finish(key, { size }) {
      const path = join(directory, key);
      try {
        await publish(path);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
        // An earlier attempt may have renamed the file before it crashed.
        const found = await stat(path).catch(() => undefined);
        if (found?.size !== size) throw piecesLost();
      }
    },
    async open(key, range) {
      try {
        // Opened here, not by the stream, so that the bytes stay readable even if the file is removed.
        const file = await open(join(directory, key), 'r');
        return file.createReadStream(range);
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

/** Runs work on a path, and throws ApiError service_unavailable if the disk accepts no more data. */
async function refusing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw hasCode(error, ...refusals) ? diskRefused(path, error) : error;
  }
}

/** Creates a directory and its missing parents, and syncs them: paths must survive a power failure, too. */
async function makeDirectory(path: string): Promise<void> {
  const first = await makeDirectories(path, directoryMode);
  if (first === undefined) return;
  for (let each = path; each.length >= first.length; each = dirname(each)) await syncDirectory(dirname(each));
}

/** Yields the bytes while the disk has room. @throws ApiError service_unavailable if it has no room left. */
async function* limitToFreeSpace(
  source: AsyncIterable<Buffer>,
  path: string,
  hasRoom: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  let askAt = 0;
  let bytes = 0;
  for await (const chunk of source) {
    if (bytes >= askAt) {
      if (!(await hasRoom())) throw diskRefused(path, new Error('there is less free space than required'));
      askAt = bytes + bytesBetween;
    }
    bytes += chunk.length;
    yield chunk;
  }
}

/** Writes bytes to a file after its first `from` bytes, and removes later bytes, which a crash may have left. */
async function writeDurably(
  path: string,
  limit: number,
  source: AsyncIterable<Buffer>,
  from: number,
): Promise<{ size: number; head: Buffer }> {
  const file: FileHandle = await open(path, 'a', 0o600);
  try {
    if ((await file.stat()).size < from) throw piecesLost();
    await file.truncate(from);
    let size = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      if (head.length < fileSignatureBytes)
        head = Buffer.concat([head, chunk]).subarray(0, fileSignatureBytes);
      // Not `write`: if the disk becomes full within a chunk, it writes only a part and reports no error.
      await file.writeFile(chunk);
    }
    // Syncs the bytes before the rename, so that a name never leads to missing bytes.
    await file.sync();
    return { size, head };
  } finally {
    await file.close();
  }
}

const hasCode = (error: unknown, ...codes: string[]): error is Error =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Databases whose disk was full at the last write. */
const full = new WeakSet<Database>();

/** Records a full disk if that is why a statement failed. */
export const recordFullDatabaseDisk = (db: Pool | ClientBase, error: unknown): void => {
  if (isDiskFull(error)) full.add(databaseOf(db));
};

/**
 * Returns whether the disk of a database is full. After a statement failed for that reason, it checks each
 * time until there is room again.
 */
export async function isDatabaseDiskFull(database: Database): Promise<boolean> {
  if (!full.has(database)) return false;
  if (await hasDatabaseRoom(database)) full.delete(database);
  return full.has(database);
}

/** Returns whether a database has room for 1 MB, by writing a temporary table. */
export async function hasDatabaseRoom(database: Database): Promise<boolean> {
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
