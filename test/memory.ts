import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';
/** Twice the size of a run's clusters. Containers often have 64 MB there, and then files stay on disk. */
const enough = 4 * 2 ** 30;

/**
 * Keeps the temporary files of a run in memory if there is enough. A run creates and drops a hundred
 * databases. Each takes six times the CPU (90 ms) on a disk's file system, most of it for file names.
 * @returns a function that removes the files.
 */
export function keepFilesInMemory(): () => void {
  if (!existsSync(memory) || !mayRunPrograms() || free() < enough) return () => {};
  removeLeft();
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  // If root runs the tests, databases run as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  // The unpacked browser is kept between runs and stays on disk.
  process.env['TEST_KEPT'] ??= process.env['TMPDIR'] ?? '/tmp';
  process.env['TMPDIR'] = folder;
  return () => removeFolder(folder);
}

/**
 * Removes a folder, including small disks that tests mounted in it. A mount cannot be removed, and remaining
 * processes of its run may still use it.
 */
function removeFolder(folder: string): void {
  for (const [, place] of mounts())
    if (place?.startsWith(`${folder}/`)) spawnSync('umount', ['--lazy', place]);
  rmSync(folder, { recursive: true, force: true });
}

const prefix = 'formloom-run-';

const mounts = (): string[][] =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));

/** Some tests run programs in their folders, which containers often forbid there. */
const mayRunPrograms = (): boolean =>
  mounts().every(([, place, , options]) => place !== memory || !options!.split(',').includes('noexec'));

function free(): number {
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize;
}

/** Removes what killed runs left, because it would keep memory in use. */
function removeLeft(): void {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN;
    if (!(pid > 0) || isAlive(pid)) continue;
    removeFolder(join(memory, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
