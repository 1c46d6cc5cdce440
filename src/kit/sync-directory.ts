import { open } from 'node:fs/promises';

/** Syncs a directory, so that its names survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
