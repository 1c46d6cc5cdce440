import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { makeDirectories } from './make-directories.ts';
import { readDisk } from './read-disk.ts';
import { diskRefused, headBytes, type Storage, tooLarge } from './storage.ts';
import { syncDirectory } from './sync-directory.ts';

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
