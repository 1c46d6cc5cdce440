import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findCodeAtEnd, findRemedyOfCode } from '../errors.ts';

/**
 * What embedded PostgreSQL throws: always a readable sentence that says what failed, where, and what to do.
 * The cause, when there is one, is kept in `cause`.
 */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** The way out that is always open; ends most messages. */
export const elsewhere = 'or set DATABASE_URL to use another PostgreSQL';

/** Messages that name the failing call themselves; the code at the end of these means something else there. */
const failedCalls: ReadonlyArray<readonly [message: RegExp, remedyOrCode: string]> = [
  [/^insufficient file descriptors/, 'EMFILE'],
  [
    /^could not \w+ shared memory segment "/,
    'There is too little shared memory: give /dev/shm 64 MB or more (`--shm-size` of containers)',
  ],
  [
    /^could not create (shared memory segment|semaphores):/,
    'The system allows too little System V shared memory or too few semaphores: raise kernel.shmmni and kernel.sem',
  ],
  [/^could not fork /, 'EAGAIN'],
  [/^out of memory/, 'ENOMEM'],
  [/^lock file ".*\.s\.PGSQL\.\d+\.lock" already exists/, 'Another PostgreSQL holds this socket: stop it'],
  [
    /^lock file ".*postmaster\.pid" already exists|^pre-existing shared memory block .* is still in use/,
    'Another PostgreSQL still works in this directory: stop it',
  ],
  [
    /^could not look up effective user ID/,
    'The user that runs Formloom needs an entry in /etc/passwd: add one',
  ],
  [/^(unrecognized configuration parameter|invalid value for parameter)/, 'Correct that database setting'],
  [/^data directory ".*" has (wrong ownership|invalid permissions)/, 'EACCES'],
  [/^terminating connection due to administrator command|caught signal$/, 'It was told to stop: start again'],
  [/ended by SIGXFSZ\b|signal \d+: File size limit exceeded/, 'EFBIG'],
  [
    /version `GLIBC_[\d.]+' not found/,
    'This system is too old for these binaries (they need glibc 2.27): upgrade it',
  ],
  [/\berror while loading shared libraries/, 'A library is missing or unreadable: run `npm ci` again'],
];

/** What comes before the message: of PostgreSQL a time and a process, of initdb its progress. */
const beforeMessage = /^.*?\b(?:FATAL|PANIC|ERROR|LOG|error|fatal): +/;
/** General advice and details, which name what may have nothing to do with the failure. */
const isAside = /^\t|\b(?:HINT|DETAIL|STATEMENT|CONTEXT|WARNING): /;

/** Finds the first line of output that tells a failed call, and what to do about it. */
function findRemedy(output: string): string | undefined {
  for (const line of output.split('\n')) {
    if (isAside.test(line)) continue;
    const message = line.replace(beforeMessage, '');
    const known = failedCalls.find(([pattern]) => pattern.test(message))?.[1] ?? findCodeAtEnd(message);
    if (known !== undefined) return findRemedyOfCode(known) ?? known;
  }
  return undefined;
}

/** Reads the output of a PostgreSQL program and says what to do about it. Always a full sentence. */
export function suggestRemedy(output: string): string {
  return `${findRemedy(output) ?? 'Correct what is said above'}, ${elsewhere}.`;
}

/** Says what to do about an error: by its code where it has one, since its message may name any path. */
export function suggestRemedyOf(error: unknown): string {
  const known = error instanceof Error && 'code' in error ? findRemedyOfCode(error.code) : undefined;
  return known === undefined ? suggestRemedy(String(error)) : `${known}, ${elsewhere}.`;
}

/** A failed file operation, as a readable error: `attempt` completes "Formloom cannot …". */
export function fileError(attempt: string, error: unknown): EmbeddedPostgresError {
  const message = error instanceof Error ? error.message : String(error);
  return new EmbeddedPostgresError(`Formloom cannot ${attempt} (${message}). ${suggestRemedyOf(error)}`, {
    cause: error,
  });
}

/** Whether `error` carries one of these system or SQLSTATE codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

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

/** What the embedded server runs with, unless the caller of startEmbeddedPostgres says otherwise. */
const tuning: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '60',
  // Submissions are inserted far more than changed: keep visibility maps and GIN pending lists fresh (default 0.2).
  autovacuum_vacuum_insert_scale_factor: '0.02',
  // ANALYZE holds 300 rows for each of these: of submissions 62 MB and 1 s of CPU at the default of 100, now and then, on top of all
  // else. Plans are made without values (kit/database.ts), so what common values it finds would hardly be asked.
  default_statistics_target: '25',
  // Compiling costs more than our short statements ever win back.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // Failed statements are reported by Formloom; the server's log keeps to the server, so no answer of a person lands there.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  cluster_name: 'formloom',
};

/**
 * What "nothing acknowledged is lost" rests on. Tests may do without what only a loss of power needs; a commit reaches
 * the operating system before it is acknowledged even then, so that they can kill processes and count rows.
 */
function durability(durable: boolean): Record<string, string> {
  const flushed = durable ? 'on' : 'off';
  return { fsync: flushed, full_page_writes: flushed, synchronous_commit: 'on' };
}

/** The port is only the suffix of the socket's name: `.s.PGSQL.5432`. */
export const port = 5432;

/**
 * The settings as arguments of the `postgres` program, which outrank postgresql.conf and ALTER SYSTEM: one table in
 * the code says what runs, also after an upgrade of Formloom. Reachability and durability cannot be overridden.
 */
export function serverArguments(server: {
  directory: string;
  socketDirectory: string;
  durable: boolean;
  settings: Record<string, string>;
}): string[] {
  const fixed: Record<string, string> = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: quoteListItem(server.socketDirectory),
    unix_socket_permissions: '0700',
    ...durability(server.durable),
  };
  const all = { ...tuning, ...server.settings, ...fixed };
  return [
    '-D',
    server.directory,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** unix_socket_directories is a comma-separated list; a double-quoted item may hold commas and spaces. */
function quoteListItem(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
