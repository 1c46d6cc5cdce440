import { type FileHandle, mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { diskRefused, headBytes, type Storage, tooLarge } from './storage.ts';

/** Below this a disk counts as full: the largest upload, and what is written beside it. */
const leastRoom = 16 * 1024 * 1024;

/** What a disk says that takes no more: full, over its quota or its largest file, read-only, broken. */
const refusals = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'];

/** Uploads as files under one directory. `a/b` as a key becomes a path below it. */
export function diskStorage(directory: string): Storage {
  return {
    async put(key, source, limit) {
      const path = join(directory, key);
      const draft = `${path}.part`;
      try {
        await makeDirectory(dirname(path));
        const written = await writeDurably(draft, source, limit);
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
    async hasRoom() {
      try {
        await mkdir(directory, { recursive: true });
      } catch (error) {
        if (hasCode(error, ...refusals)) return false;
        throw error;
      }
      const { bavail, bsize, files, ffree } = await statfs(directory);
      // Some file systems have no number of files that they are made for.
      return bavail * bsize >= leastRoom && (files === 0 || ffree > 0);
    },
  };
}

/** Makes a directory and what lacks above it, each written down in the one above: a path must survive as bytes do. */
async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

async function writeDurably(
  path: string,
  source: Readable,
  limit: number,
): Promise<{ size: number; head: Buffer }> {
  const file: FileHandle = await open(path, 'w', 0o600);
  try {
    let size = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of source as AsyncIterable<Buffer>) {
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

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

const hasCode = (error: unknown, ...codes: string[]): error is Error =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));
