import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError, elsewhere, hasCode } from './error.ts';

/** A user of the operating system. */
export type Account = { name: string; uid: number; gid: number };

/** Preferred first: the user that distributions make for PostgreSQL, then the one that exists everywhere. */
const unprivileged = ['postgres', 'nobody'];

/** The accounts of an /etc/passwd file; lines that are not accounts are passed over. */
export function parseAccounts(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const account = { name: name ?? '', uid: Number(uid || NaN), gid: Number(gid || NaN) };
    return Number.isInteger(account.uid) && Number.isInteger(account.gid) ? [account] : [];
  });
}

/**
 * Which account runs PostgreSQL when Formloom runs as root: the owner of the cluster that is already there
 * (so that installing a `postgres` user later changes nothing), else `postgres`, else `nobody`.
 */
export function chooseAccount(accounts: Account[], clusterOwner?: number): Account | undefined {
  if (clusterOwner !== undefined) {
    return clusterOwner === 0 ? undefined : accounts.find((account) => account.uid === clusterOwner);
  }
  return unprivileged
    .map((name) => accounts.find((account) => account.name === name && account.uid !== 0))
    .find((account) => account !== undefined);
}

/**
 * The account that PostgreSQL has to run as, or undefined for "the one we run as", which must then own the cluster.
 * PostgreSQL refuses uid 0, and a uid without an /etc/passwd entry.
 */
export async function findAccount(cluster?: {
  directory: string;
  owner: number;
}): Promise<Account | undefined> {
  const own = process.getuid?.() ?? 0;
  if (own !== 0) {
    if (cluster && cluster.owner !== own) throw foreignCluster(cluster, own);
    return undefined;
  }
  const passwd = await readFile('/etc/passwd', 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });
  const account = chooseAccount(parseAccounts(passwd), cluster?.owner);
  if (account) return account;
  if (cluster) throw foreignCluster(cluster, own);
  throw new EmbeddedPostgresError(
    'Formloom runs as root, PostgreSQL refuses to, and /etc/passwd has neither `postgres` nor `nobody` to run it as. ' +
      `Run Formloom as an ordinary user, ${elsewhere}.`,
  );
}

function foreignCluster(cluster: { directory: string; owner: number }, own: number): EmbeddedPostgresError {
  const remedy =
    own === 0
      ? `Give it to one that can: \`chown -R nobody ${cluster.directory}\``
      : `Run Formloom as its owner, or give it away: \`chown -R ${own} ${cluster.directory}\``;
  return new EmbeddedPostgresError(
    `The database directory ${cluster.directory} belongs to uid ${cluster.owner}, and PostgreSQL must run as its ` +
      `owner, which uid ${own} cannot arrange. ${remedy}, ${elsewhere}.`,
  );
}

/** Whether the mode bits let `account` pass through a directory with this owner. ACLs only ever show in the group bits. */
export function mayEnter(directory: { mode: number; uid: number; gid: number }, account: Account): boolean {
  if (directory.uid === account.uid) return (directory.mode & 0o100) !== 0;
  if (directory.gid === account.gid) return (directory.mode & 0o010) !== 0;
  return (directory.mode & 0o001) !== 0;
}

/** The first directory on the way down to and including `path` (a real path) that `account` may not enter. */
export async function findClosedDirectory(path: string, account: Account): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent !== path) {
    const closed = await findClosedDirectory(parent, account);
    if (closed !== undefined) return closed;
  }
  return mayEnter(await stat(path), account) ? undefined : path;
}
