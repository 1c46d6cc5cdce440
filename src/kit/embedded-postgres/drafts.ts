import { randomBytes } from 'node:crypto';
import { chmod, copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../make-directories.ts';
import { syncDirectory } from '../sync-directory.ts';
import { hasCode } from './machine.ts';

/**
 * A directory is made whole under a draft name and then renamed, so that a kill at any moment leaves either nothing
 * or all of it. The name tells who works on it: `<name>.draft-<pid>-<random>`.
 */
export function draftOf(path: string): string {
  return `${path}.draft-${process.pid}-${randomBytes(3).toString('hex')}`;
}

/** The process that works on a draft of `path`, or undefined when `name` is no such draft. */
export function draftOwner(path: string, name: string): number | undefined {
  const prefix = `${basename(path)}.draft-`;
  const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
  return pid > 0 ? pid : undefined;
}

/** Gives a finished draft its name. False when the name is taken, by another process that was first. */
export async function publishDraft(draft: string, path: string): Promise<boolean> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false;
    throw error;
  }
  await syncDirectory(dirname(path));
  return true;
}

/** Making a cluster takes seconds; in a container, or after a restart, the id of a dead maker is soon somebody else's. */
const longestWorkMs = 10 * 60_000;

/** Removes the drafts of `path` whose makers are dead. One that resists is only told about: it is in nobody's way. */
export async function removeDeadDrafts(path: string, log: (message: string) => void): Promise<void> {
  for (const name of await readdir(dirname(path))) {
    const owner = draftOwner(path, name);
    if (owner === undefined) continue;
    const draft = join(dirname(path), name);
    try {
      if (isRunning(owner) && Date.now() - (await stat(draft)).mtimeMs < longestWorkMs) continue;
      await rm(draft, { recursive: true, force: true, maxRetries: 3 });
      log(`An interrupted attempt was removed: ${draft}.`);
    } catch (error) {
      log(`An interrupted attempt could not be removed: ${draft} (${String(error)}).`);
    }
  }
}

/** Whether a process with this id exists, whoever it belongs to. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Makes a directory that every user may enter, whatever our umask. One that exists stays as it is. */
export async function makeOpenDirectory(path: string): Promise<void> {
  if (await makeDirectories(path)) await chmod(path, 0o755);
}

/**
 * Copies the files of a tree that `wanted` does not refuse, readable for every user and flushed to the disk.
 * Symbolic links are left out.
 */
export async function copyTree(from: string, to: string, wanted: (path: string) => boolean): Promise<void> {
  await makeOpenDirectory(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (!wanted(source)) continue;
    if (entry.isDirectory()) await copyTree(source, join(to, entry.name), wanted);
    else if (entry.isFile()) await copyOpenFile(source, join(to, entry.name));
  }
}

async function copyOpenFile(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const handle = await open(to);
  try {
    const { mode } = await handle.stat();
    await handle.chmod((mode & 0o100) === 0 ? 0o644 : 0o755);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
