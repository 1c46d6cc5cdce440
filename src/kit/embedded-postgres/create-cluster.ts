import { chown, mkdir, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../sync-directory.ts';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { findCluster, type Cluster } from './cluster.ts';
import { draftOf, makeOpenDirectory, publishDraft, removeDeadDrafts } from './drafts.ts';
import { EmbeddedPostgresError, fileError, hasCode } from './error.ts';
import { chooseHome, type Home } from './placement.ts';
import { runProgram } from './program.ts';

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
