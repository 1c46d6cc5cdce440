import { open } from 'node:fs/promises';

/** Makes names in a directory survive a loss of power. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
