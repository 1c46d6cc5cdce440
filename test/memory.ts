import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';
/** What the clusters of a run come to, twice over: a container often has 64 MB there, and then it is the disk. */
const enough = 4 * 2 ** 30;

/**
 * Puts what a run makes in temporary folders into memory, where there is enough: a hundred databases are made and
 * dropped, and on a disk's file system each takes six times the CPU (90 ms), most of it for the names of its files.
 * @returns what to end it with.
 */
export function keepFilesInMemory(): () => void {
  if (!existsSync(memory) || !mayRunPrograms() || free() < enough) return () => {};
  removeLeft();
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  // When root runs the tests, databases run as another user, who must be able to pass.
  chmodSync(folder, 0o755);
  // What is kept between runs, the unpacked browser, stays where it is.
  process.env['TEST_KEPT'] ??= process.env['TMPDIR'] ?? '/tmp';
  process.env['TMPDIR'] = folder;
  return () => removeFolder(folder);
}

/** With small disks that tests had to themselves: nobody can remove what is mounted, and what is left of its run may still use it. */
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

/** Some tests run programs out of their folders, which containers often do not allow there. */
const mayRunPrograms = (): boolean =>
  mounts().every(([, place, , options]) => place !== memory || !options!.split(',').includes('noexec'));

function free(): number {
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize;
}

/** What runs left that were killed: memory that nobody uses. */
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
