import { mkdir } from 'node:fs/promises';

/**
 * Makes a directory and those above it. Resolves to the first one that was made, undefined when all were there.
 * Node reports `ENOENT` where the system refused a directory for another reason, such as a disk that can only be
 * read: the refused directory is tried again alone, for the true error.
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
