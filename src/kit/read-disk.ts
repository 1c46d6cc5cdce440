import { statfs } from 'node:fs/promises';

/** The disk that a folder lies on, in bytes; whether it takes another file. @throws Error where there is no such folder. */
export async function readDisk(folder: string): Promise<{ free: number; size: number; takesFiles: boolean }> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  // Some file systems have no number of files that they are made for.
  return { free: bavail * bsize, size: blocks * bsize, takesFiles: files === 0 || ffree > 0 };
}
