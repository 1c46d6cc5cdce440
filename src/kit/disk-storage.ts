import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { headBytes, type Storage, tooLarge } from './storage.ts';

/** Uploads as files under one directory. `a/b` as a key becomes a path below it. */
export function diskStorage(directory: string): Storage {
  return {
    async put(key, source, limit) {
      const path = join(directory, key);
      const draft = `${path}.part`;
      await makeDirectory(dirname(path));
      try {
        const written = await writeDurably(draft, source, limit);
        await rename(draft, path);
        await syncDirectory(dirname(path));
        return written;
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
    async open(key) {
      try {
        // Opened here and not by the stream: from now on the bytes stay readable, even when they are removed.
        const file = await open(join(directory, key), 'r');
        return file.createReadStream();
      } catch (error) {
        if (isMissing(error)) return undefined;
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

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
