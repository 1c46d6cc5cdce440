import { randomBytes } from 'node:crypto';
import { chmod, copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectories, syncDirectory } from '../directories.ts';
import { hasErrorCode } from './machine.ts';

/**
 * Returns the draft name under which a directory is built before it is renamed, so that a kill leaves either
 * nothing or the complete directory. The name contains the process id: `<name>.draft-<pid>-<random>`.
 */
export function createDraftPath(path: string): string {
  return `${path}.draft-${process.pid}-${randomBytes(3).toString('hex')}`;
}

/** Returns the process id in the name of a draft of `path`, or undefined for other names. */
export function draftOwnerPid(path: string, name: string): number | undefined {
  const prefix = `${basename(path)}.draft-`;
  const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
  return pid > 0 ? pid : undefined;
}

/** Renames a finished draft. Returns false if another process has already published one. */
export async function publishDraftDirectory(draft: string, path: string): Promise<boolean> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (hasErrorCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false;
    throw error;
  }
  await syncDirectory(dirname(path));
  return true;
}

/** Creating a cluster takes seconds. In a container, or after a restart, pids are soon reused. */
const longestWorkMs = 10 * 60_000;

/** Removes drafts of `path` whose processes have died. Failures are only logged: drafts are harmless. */
export async function removeDeadDrafts(path: string, log: (message: string) => void): Promise<void> {
  for (const name of await readdir(dirname(path))) {
    const owner = draftOwnerPid(path, name);
    if (owner === undefined) continue;
    const draft = join(dirname(path), name);
    try {
      if (isProcessRunning(owner) && Date.now() - (await stat(draft)).mtimeMs < longestWorkMs) continue;
      await rm(draft, { recursive: true, force: true, maxRetries: 3 });
      log(`The files of an interrupted attempt were removed: ${draft}.`);
    } catch (error) {
      log(`The files of an interrupted attempt could not be removed: ${draft} (${String(error)}).`);
    }
  }
}

/** Returns whether a process with this id exists, for any user. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasErrorCode(error, 'EPERM');
  }
}

/** Creates a directory that every user may enter, regardless of the umask. An existing one is not changed. */
export async function makeOpenDirectory(path: string): Promise<void> {
  if (await makeDirectories(path)) await chmod(path, 0o755);
}

/**
 * Copies the files of a tree that `filter` accepts, without symbolic links. The copies are readable by every
 * user and synced to disk.
 */
export async function copyTree(from: string, to: string, filter: (path: string) => boolean): Promise<void> {
  await makeOpenDirectory(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (!filter(source)) continue;
    if (entry.isDirectory()) await copyTree(source, join(to, entry.name), filter);
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
