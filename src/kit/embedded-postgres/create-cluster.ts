import { createHash } from 'node:crypto';
import { chown, lchown, lstat, mkdir, realpath, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../make-directories.ts';
import { syncDirectory } from '../sync-directory.ts';
import type { Binaries } from './binaries.ts';
import { type Cluster, findCluster } from './cluster.ts';
import { draftOf, makeOpenDirectory, publishDraft, removeDeadDrafts } from './drafts.ts';
import {
  type Account,
  EmbeddedPostgresError,
  elsewhere,
  fileError,
  findClosedDirectory,
  hasCode,
  port,
} from './machine.ts';
import { runProgram } from './program.ts';

/** Where root puts what another user must reach and the data directory hides. */
export const sharedDirectory = '/var/lib/formloom';

/** Where a new cluster goes. With `link`, it lies outside the data directory and the link there leads to it. */
type Home = { directory: string; link?: string; because?: string };

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
async function chooseHome(dataDir: string, account: Account | undefined): Promise<Home> {
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

/** The only user and the database of Formloom; PostgreSQL's own `postgres` database is there too. */
export const user = 'formloom';
export const database = 'formloom';

/**
 * Makes the cluster of a data directory: whole or not at all, however often it is killed in between.
 * When another process makes one at the same time, the first to finish wins and both go on with that one.
 */
export async function createCluster(request: {
  dataDir: string;
  account: Account | undefined;
  binaries: Binaries;
  durable: boolean;
  log: (message: string) => void;
}): Promise<Cluster> {
  const { dataDir, account, log } = request;
  const home = await chooseHome(dataDir, account);
  const draft = draftOf(home.directory);
  log(`A new database is made in ${home.directory}${home.because ? `, because ${home.because}` : ''}.`);
  try {
    await makeOpenDirectory(dirname(home.directory));
    await removeDeadDrafts(home.directory, log);
    await mkdir(draft, { mode: 0o700 });
    if (account) await chown(draft, account.uid, account.gid);
  } catch (error) {
    throw fileError(`make the database directory ${draft}`, error);
  }
  try {
    await fillCluster(draft, request);
    await publish(draft, home);
  } finally {
    await rm(draft, { recursive: true, force: true }); // gone already when it was published
  }
  const cluster = await findCluster(dataDir);
  if (cluster) return cluster;
  throw new EmbeddedPostgresError(`The new database ${home.directory} has vanished. Start again.`);
}

/** initdb, and our database in it. 0.6 s and 0.1 s; without the flush to disk half of that. */
async function fillCluster(
  directory: string,
  { binaries, account, durable }: { binaries: Binaries; account: Account | undefined; durable: boolean },
): Promise<void> {
  const options = [
    `--username=${user}`,
    '--auth-local=trust', // who can open the socket may in: its directory is 0700
    '--auth-host=reject', // there is no TCP
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin', // no update of the operating system can change how text is ordered
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  await runProgram(binaries.initdb, ['-D', directory, ...options], { account, purpose: 'make the database' });
  const sync = durable ? [] : ['-c', 'fsync=off'];
  await runProgram(
    binaries.postgres,
    ['--single', '-D', directory, '-c', 'exit_on_error=on', ...sync, 'template1'],
    { account, purpose: 'create its first database', input: `create database ${database};\n` },
  );
}

/** Puts a finished cluster where findCluster finds it. A cluster that another process put there first stays. */
async function publish(draft: string, home: Home): Promise<void> {
  try {
    if (home.link === undefined) {
      await publishDraft(draft, home.directory);
      return;
    }
    const directory = await publishUnderFreeName(draft, home.directory);
    await publishLink(home.link, directory);
  } catch (error) {
    throw fileError(`put the new database in its place (${home.link ?? home.directory})`, error);
  }
}

/**
 * Outside the data directory the name may be taken by the database of a removed data directory of the same path.
 * That one is neither ours to use nor to delete, so we take the next name.
 */
async function publishUnderFreeName(draft: string, path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (await publishDraft(draft, name)) return name;
  }
}

/** The link is what makes a cluster outside the data directory ours: the first to make it wins. */
async function publishLink(link: string, directory: string): Promise<void> {
  try {
    await rmdir(link); // an empty directory that the operator made
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY')) throw error;
  }
  try {
    await symlink(directory, link);
  } catch (error) {
    await rm(directory, { recursive: true });
    if (hasCode(error, 'EEXIST')) return;
    throw error;
  }
  await syncDirectory(dirname(link));
}
