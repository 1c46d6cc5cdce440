import { createHash } from 'node:crypto';
import {
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  rmdir,
  stat,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectories, syncDirectory } from '../directories.ts';
import { type Binaries, majorVersion } from './binaries.ts';
import { createDraftPath, makeOpenDirectory, publishDraftDirectory, removeDeadDrafts } from './drafts.ts';
import {
  EmbeddedPostgresError,
  fileError,
  findInaccessibleDirectory,
  hasErrorCode,
  otherDatabaseHint,
  postgresSocketPort,
  type SystemAccount,
} from './machine.ts';
import { runProgram } from './program.ts';

/** Where root puts files that another user must reach, if the data directory is closed to that user. */
export const sharedDirectory = '/var/lib/formloom';

/** The location of a new cluster. With `link`, it is outside the data directory and `link` points to it. */
type Home = { directory: string; link?: string; because?: string };

/** Creates the data directory and returns its real path, so that all processes use the same path. */
export async function makeDataDirectory(dataDir: string): Promise<string> {
  try {
    await makeDirectories(dataDir);
    return await realpath(dataDir);
  } catch (error) {
    throw fileError(`create the data directory ${dataDir}`, error);
  }
}

/** Chooses where to create the cluster: in the data directory, unless `account` could not reach it there. */
async function chooseHome(dataDir: string, account: SystemAccount | undefined): Promise<Home> {
  const link = join(dataDir, 'postgres');
  const directory = await findEmptyDirectory(link);
  const closed = account && (await findInaccessibleDirectory(dirname(directory), account));
  if (closed === undefined) return { directory };
  return {
    directory: join(sharedDirectory, externalDirectoryName(dataDir)),
    link,
    because: `PostgreSQL runs as the user ${account?.name}, which cannot enter ${closed}`,
  };
}

/** Resolves the path, because the operator may have created a directory or a link to another disk. */
async function findEmptyDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return path;
    throw fileError(`read ${path}`, error);
  }
}

/**
 * Returns a unique, readable name for a data directory: `<its last part>-<8 hex digits of its path's hash>`.
 */
export function externalDirectoryName(dataDir: string): string {
  return `${basename(dataDir).replaceAll(/[^\w.-]/g, '_')}-${shortHash(dataDir)}`;
}

/** Rejects a cluster that its owner can no longer reach. */
export async function requireReachableCluster(directory: string, account: SystemAccount): Promise<void> {
  const closed = await findInaccessibleDirectory(directory, account);
  if (closed === undefined) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as the user ${account.name}, which cannot enter ${closed} and so cannot reach its database ${directory}. Allow access with \`chmod o+x ${closed}\`, or move the database, ${otherDatabaseHint}.`,
  );
}

/** The path of a Unix socket is limited to 107 bytes on Linux and 103 on macOS. */
const longestSocketPath = process.platform === 'darwin' ? 103 : 107;

/**
 * Chooses the directory of the server's socket. It is the directory of the cluster, which is 0700 and has the
 * right owner. If that path is too long, it is a short path in /tmp. os.tmpdir() would depend on TMPDIR,
 * which differs between a service and a shell, and all processes must agree.
 */
export function chooseSocketDirectory(directory: string): string {
  const length = Buffer.byteLength(join(directory, `.s.PGSQL.${postgresSocketPort}`));
  return length <= longestSocketPath ? directory : `/tmp/formloom-${shortHash(directory)}`;
}

function shortHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 8);
}

/**
 * Creates the socket directory outside the cluster. Any user can create names in /tmp, so an existing
 * directory of another user is rejected.
 */
export async function makeSocketDirectory(path: string, account: SystemAccount | undefined): Promise<void> {
  const own = process.getuid?.();
  try {
    await makeDirectories(path, 0o700);
    const found = await lstat(path);
    const isSafe = found.isDirectory() && (found.mode & 0o077) === 0;
    if (isSafe && account && found.uid === own) await lchown(path, account.uid, account.gid);
    if (isSafe && [own, account?.uid].includes(found.uid)) return;
  } catch (error) {
    throw fileError(`create the socket directory ${path}`, error);
  }
  throw new EmbeddedPostgresError(
    `The socket directory ${path} belongs to another user. Remove it, choose a shorter DATA_DIR, ${otherDatabaseHint}.`,
  );
}

/** Formloom's only user and its database. PostgreSQL's own `postgres` database also exists. */
export const databaseUser = 'formloom';
export const databaseName = 'formloom';

/**
 * Creates the cluster of a data directory. A killed attempt leaves no partial cluster. If two processes
 * create one at the same time, both use the one that is complete first.
 */
export async function createCluster(request: {
  dataDir: string;
  account: SystemAccount | undefined;
  binaries: Binaries;
  durable: boolean;
  log: (message: string) => void;
}): Promise<PostgresCluster> {
  const { dataDir, account, log } = request;
  const home = await chooseHome(dataDir, account);
  const draft = createDraftPath(home.directory);
  log(`Creating a new database in ${home.directory}${home.because ? `, because ${home.because}` : ''}.`);
  try {
    await makeOpenDirectory(dirname(home.directory));
    await removeDeadDrafts(home.directory, log);
    await mkdir(draft, { mode: 0o700 });
    if (account) await chown(draft, account.uid, account.gid);
  } catch (error) {
    throw fileError(`create the database directory ${draft}`, error);
  }
  try {
    await fillCluster(draft, request);
    await publish(draft, home);
  } finally {
    await rm(draft, { recursive: true, force: true }); // does nothing after publishing, which renames the draft
  }
  const cluster = await findCluster(dataDir);
  if (cluster) return cluster;
  throw new EmbeddedPostgresError(`The new database ${home.directory} has disappeared. Start again.`);
}

/**
 * Runs initdb (0.6 s) and creates Formloom's database (0.1 s). Without syncing to disk, both take half as
 * long.
 */
async function fillCluster(
  directory: string,
  {
    binaries,
    account,
    durable,
  }: { binaries: Binaries; account: SystemAccount | undefined; durable: boolean },
): Promise<void> {
  const options = [
    `--username=${databaseUser}`,
    '--auth-local=trust', // access to the socket is enough: its directory is 0700
    '--auth-host=reject', // PostgreSQL does not listen on TCP
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin', // so that updates of the operating system cannot change the sort order of text
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  await runProgram(binaries.initdb, ['-D', directory, ...options], {
    account,
    purpose: 'create the database',
  });
  const sync = durable ? [] : ['-c', 'fsync=off'];
  await runProgram(
    binaries.postgres,
    ['--single', '-D', directory, '-c', 'exit_on_error=on', ...sync, 'template1'],
    { account, purpose: 'create its first database', input: `create database ${databaseName};\n` },
  );
}

/** Moves a complete cluster to its final path. If another process was first, its cluster is kept. */
async function publish(draft: string, home: Home): Promise<void> {
  try {
    if (home.link === undefined) {
      await publishDraftDirectory(draft, home.directory);
      return;
    }
    const directory = await publishUnderFreeName(draft, home.directory);
    await publishLink(home.link, directory);
  } catch (error) {
    throw fileError(`move the new database to its final location (${home.link ?? home.directory})`, error);
  }
}

/**
 * Tries numbered names outside the data directory. A name may belong to the database of a removed data
 * directory with the same path, which must be neither used nor deleted.
 */
async function publishUnderFreeName(draft: string, path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (await publishDraftDirectory(draft, name)) return name;
  }
}

/** Creates the link that makes a cluster outside the data directory ours. The first process wins. */
async function publishLink(link: string, directory: string): Promise<void> {
  try {
    await rmdir(link); // removes an empty directory that the operator created
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY')) throw error;
  }
  try {
    await symlink(directory, link);
  } catch (error) {
    await rm(directory, { recursive: true });
    if (hasErrorCode(error, 'EEXIST')) return;
    throw error;
  }
  await syncDirectory(dirname(link));
}

/** A complete cluster on disk. PostgreSQL must run as the uid `owner`. */
export type PostgresCluster = { directory: string; owner: number; version: string };

/** Returns the cluster of a data directory, or undefined if there is none. Throws for other content. */
export async function findCluster(dataDir: string): Promise<PostgresCluster | undefined> {
  const place = join(dataDir, 'postgres');
  try {
    const directory = await resolveDirectory(place);
    if (directory === undefined) return undefined;
    const { uid } = await stat(directory);
    const entries = await readdir(directory);
    if (entries.length === 0) return undefined;
    if (!entries.includes('PG_VERSION'))
      throw new EmbeddedPostgresError(
        `Formloom keeps its database in ${directory}, but that directory contains something other than a PostgreSQL cluster. Move it away, choose another DATA_DIR, ${otherDatabaseHint}.`,
      );
    const version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
    return { directory, owner: uid, version };
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : fileError(`read the database directory ${place}`, error);
  }
}

/** Resolves `<dataDir>/postgres`, which may be a link. Returns undefined if it does not exist. */
async function resolveDirectory(place: string): Promise<string | undefined> {
  try {
    return await realpath(place);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
  let target: string;
  try {
    target = await readlink(place);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  // Creating an empty database instead of the lost one would look like success.
  throw new EmbeddedPostgresError(
    `The database of Formloom was moved or removed: ${place} points to ${target}, which does not exist. Put it back, or delete the link ${place} to start with an empty database, ${otherDatabaseHint}.`,
  );
}

/** Rejects a cluster of another major version, which PostgreSQL cannot read. */
export function requireSameMajorVersion(cluster: PostgresCluster, binaries: Binaries): void {
  const ours = majorVersion(binaries);
  if (cluster.version === ours) return;
  throw new EmbeddedPostgresError(
    `The database in ${cluster.directory} was made by PostgreSQL ${cluster.version}, but this Formloom includes PostgreSQL ${ours}, which cannot read it. Create a \`backup\` with the previous Formloom version, and \`restore\` it into an empty DATA_DIR, ${otherDatabaseHint}.`,
  );
}
