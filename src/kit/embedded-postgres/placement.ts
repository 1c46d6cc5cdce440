import { createHash } from 'node:crypto';
import { lchown, lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../make-directories.ts';
import { findClosedDirectory, type Account } from './account.ts';
import { EmbeddedPostgresError, elsewhere, fileError, hasCode } from './error.ts';
import { port } from './settings.ts';

/** Where root puts what another user must reach and the data directory hides. */
export const sharedDirectory = '/var/lib/formloom';

/** Where a new cluster goes. With `link`, it lies outside the data directory and the link there leads to it. */
export type Home = { directory: string; link?: string; because?: string };

/** Makes the data directory and gives back its real path, the same for every process whatever way it came. */
export async function makeDataDirectory(dataDir: string): Promise<string> {
  try {
    await makeDirectories(dataDir);
    return await realpath(dataDir);
  } catch (error) {
    throw fileError(`make the data directory ${dataDir}`, error);
  }
}

/** Where the cluster of a (real) data directory goes: inside, unless `account` could not reach it there. */
export async function chooseHome(dataDir: string, account: Account | undefined): Promise<Home> {
  const link = join(dataDir, 'postgres');
  const directory = await findEmptyDirectory(link);
  const closed = account && (await findClosedDirectory(dirname(directory), account));
  if (closed === undefined) return { directory };
  return {
    directory: join(sharedDirectory, outsideName(dataDir)),
    link,
    because: `the user ${account?.name}, whom PostgreSQL runs as, may not enter ${closed}`,
  };
}

/** The operator may have made an empty directory for the database, or a link to one on another disk. */
async function findEmptyDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return path;
    throw fileError(`read ${path}`, error);
  }
}

/** A readable name that no other data directory gets: `<its last part>-<8 hex digits of its path's hash>`. */
export function outsideName(dataDir: string): string {
  return `${basename(dataDir).replaceAll(/[^\w.-]/g, '_')}-${shortHash(dataDir)}`;
}

/** Refuses a cluster whose directory was closed to its owner after it was made. */
export async function checkReachable(directory: string, account: Account): Promise<void> {
  const closed = await findClosedDirectory(directory, account);
  if (closed === undefined) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as the user ${account.name}, who may not enter ${closed} and so cannot reach its database ` +
      `${directory}. Open it with \`chmod o+x ${closed}\`, or move the database, ${elsewhere}.`,
  );
}

/** A Unix socket's path may have 107 bytes on Linux and 103 on macOS. */
const longestSocketPath = process.platform === 'darwin' ? 103 : 107;

/**
 * The directory of the server's socket: the cluster itself, which is 0700 and its owner's already, or a short one
 * in /tmp when that path is too long. Not os.tmpdir(): TMPDIR differs between a service and a shell, and every
 * process must come to the same answer.
 */
export function chooseSocketDirectory(directory: string): string {
  const length = Buffer.byteLength(join(directory, `.s.PGSQL.${port}`));
  return length <= longestSocketPath ? directory : `/tmp/formloom-${shortHash(directory)}`;
}

function shortHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 8);
}

/**
 * Makes the socket directory where it is not the cluster itself. Anyone can make names in /tmp, so one that is not a
 * directory of the server's own is refused rather than trusted.
 */
export async function makeSocketDirectory(path: string, account: Account | undefined): Promise<void> {
  const own = process.getuid?.();
  try {
    await makeDirectories(path, 0o700);
    const found = await lstat(path);
    const isSafe = found.isDirectory() && (found.mode & 0o077) === 0;
    if (isSafe && account && found.uid === own) await lchown(path, account.uid, account.gid);
    if (isSafe && [own, account?.uid].includes(found.uid)) return;
  } catch (error) {
    throw fileError(`make the socket directory ${path}`, error);
  }
  throw new EmbeddedPostgresError(
    `The socket directory ${path} belongs to someone else. Remove it, choose a shorter DATA_DIR, ${elsewhere}.`,
  );
}
