import { mkdir, open } from 'node:fs/promises';

/**
 * Creates a directory and its parents. Returns the first one created, or undefined if all existed. Node
 * reports `ENOENT` if the system refused a directory for another reason, such as a read-only disk. The
 * refused directory is therefore tried again alone, to get the true error.
 */
export async function makeDirectories(path: string, mode?: number): Promise<string | undefined> {
  try {
    return await mkdir(path, { recursive: true, mode });
  } catch (error) {
    const { code, path: refused } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && refused !== undefined) await mkdir(refused, { mode });
    throw error;
  }
}

/** Syncs a directory, so that its names survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
