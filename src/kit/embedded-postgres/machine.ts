import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findErrorCodeInLine, findRemedyOfCode } from '../errors.ts';

/** An error of embedded PostgreSQL. Its message says what failed, where, and what to do. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** The alternative at the end of most messages. */
export const otherDatabaseHint = 'or set DATABASE_URL to use another PostgreSQL';

/** Messages that name the failed call. The error code at their end has another meaning there. */
const failedCalls: ReadonlyArray<readonly [message: RegExp, remedyOrCode: string]> = [
  [/^insufficient file descriptors/, 'EMFILE'],
  [
    /^could not \w+ shared memory segment "/,
    'There is too little shared memory: give /dev/shm 64 MB or more (`--shm-size` for containers)',
  ],
  [
    /^could not create (shared memory segment|semaphores):/,
    'The system allows too little System V shared memory or too few semaphores: raise kernel.shmmni and kernel.sem',
  ],
  [/^could not fork /, 'EAGAIN'],
  [/^out of memory/, 'ENOMEM'],
  [
    /^lock file ".*\.s\.PGSQL\.\d+\.lock" already exists/,
    'Another PostgreSQL server uses this socket: stop that server',
  ],
  [
    /^lock file ".*postmaster\.pid" already exists|^pre-existing shared memory block .* is still in use/,
    'Another PostgreSQL server still uses this directory: stop that server',
  ],
  [
    /^could not look up effective user ID/,
    'The user that runs Formloom needs an entry in /etc/passwd: add one',
  ],
  [/^(unrecognized configuration parameter|invalid value for parameter)/, 'Correct this database setting'],
  [/^data directory ".*" has (wrong ownership|invalid permissions)/, 'EACCES'],
  [
    /^terminating connection due to administrator command|caught signal$/,
    'PostgreSQL received a request to stop: start it again',
  ],
  [/ended by SIGXFSZ\b|signal \d+: File size limit exceeded/, 'EFBIG'],
  [
    /version `GLIBC_[\d.]+' not found/,
    'This system is too old for these binaries (they need glibc 2.27): upgrade it',
  ],
  [/\berror while loading shared libraries/, 'A library is missing or unreadable: run `npm ci` again'],
];

/** The prefix of a message: PostgreSQL's time and process, or initdb's progress. */
const beforeMessage = /^.*?\b(?:FATAL|PANIC|ERROR|LOG|error|fatal): +/;
/** Hints and details, which may name things that did not cause the failure. */
const isAside = /^\t|\b(?:HINT|DETAIL|STATEMENT|CONTEXT|WARNING): /;

/** Returns the remedy for the first line of output that names a failed call. */
function findRemedy(output: string): string | undefined {
  for (const line of output.split('\n')) {
    if (isAside.test(line)) continue;
    const message = line.replace(beforeMessage, '');
    const known = failedCalls.find(([pattern]) => pattern.test(message))?.[1] ?? findErrorCodeInLine(message);
    if (known !== undefined) return findRemedyOfCode(known) ?? known;
  }
  return undefined;
}

/** Returns a sentence with the remedy for the output of a PostgreSQL program. */
export function suggestRemedy(output: string): string {
  return `${findRemedy(output) ?? 'Fix the problem above'}, ${otherDatabaseHint}.`;
}

/**
 * Returns a sentence with the remedy for an error. It uses the error's code if it has one, because the
 * message may contain any path.
 */
export function suggestRemedyForError(error: unknown): string {
  const known = error instanceof Error && 'code' in error ? findRemedyOfCode(error.code) : undefined;
  return known === undefined ? suggestRemedy(String(error)) : `${known}, ${otherDatabaseHint}.`;
}

/** Creates a readable error for a failed file operation. `attempt` completes "Formloom cannot …". */
export function fileError(attempt: string, error: unknown): EmbeddedPostgresError {
  const message = error instanceof Error ? error.message : String(error);
  return new EmbeddedPostgresError(
    `Formloom cannot ${attempt} (${message}). ${suggestRemedyForError(error)}`,
    { cause: error },
  );
}

/** Returns whether `error` has one of these system or SQLSTATE codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A user of the operating system. */
export type SystemAccount = { name: string; uid: number; gid: number };

/** In order of preference: the user that distributions create for PostgreSQL, then one that always exists. */
const unprivileged = ['postgres', 'nobody'];

/** Parses /etc/passwd, ignoring lines that are not accounts. */
export function parsePasswdFile(passwd: string): SystemAccount[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const account = { name: name ?? '', uid: Number(uid || NaN), gid: Number(gid || NaN) };
    return Number.isInteger(account.uid) && Number.isInteger(account.gid) ? [account] : [];
  });
}

/**
 * Chooses the account for PostgreSQL if Formloom runs as root: the owner of an existing cluster, else
 * `postgres`, else `nobody`. Installing a `postgres` user later therefore changes nothing.
 */
export function choosePostgresAccount(
  accounts: SystemAccount[],
  clusterOwner?: number,
): SystemAccount | undefined {
  if (clusterOwner !== undefined)
    return clusterOwner === 0 ? undefined : accounts.find((account) => account.uid === clusterOwner);
  return unprivileged
    .map((name) => accounts.find((account) => account.name === name && account.uid !== 0))
    .find((account) => account !== undefined);
}

/**
 * Finds the account that PostgreSQL must run as. Undefined means the current user, who must then own the
 * cluster. PostgreSQL rejects uid 0 and uids without an entry in /etc/passwd.
 */
export async function findPostgresAccount(cluster?: {
  directory: string;
  owner: number;
}): Promise<SystemAccount | undefined> {
  const own = process.getuid?.() ?? 0;
  if (own !== 0) {
    if (cluster && cluster.owner !== own) throw foreignCluster(cluster, own);
    return undefined;
  }
  const passwd = await readFile('/etc/passwd', 'utf8').catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return '';
    throw error;
  });
  const account = choosePostgresAccount(parsePasswdFile(passwd), cluster?.owner);
  if (account) return account;
  if (cluster) throw foreignCluster(cluster, own);
  throw new EmbeddedPostgresError(
    `Formloom runs as root, but PostgreSQL cannot, and /etc/passwd has neither \`postgres\` nor \`nobody\` to run it as. Run Formloom as an ordinary user, ${otherDatabaseHint}.`,
  );
}

function foreignCluster(cluster: { directory: string; owner: number }, own: number): EmbeddedPostgresError {
  const remedy =
    own === 0
      ? `Change the owner: \`chown -R nobody ${cluster.directory}\``
      : `Run Formloom as the owner, or change the owner: \`chown -R ${own} ${cluster.directory}\``;
  return new EmbeddedPostgresError(
    `The database directory ${cluster.directory} belongs to uid ${cluster.owner}. PostgreSQL must run as the owner of the directory, but uid ${own} cannot start it as that user. ${remedy}, ${otherDatabaseHint}.`,
  );
}

/** Returns whether the mode bits let `account` enter a directory. ACLs show only in the group bits. */
export function canEnterDirectory(
  directory: { mode: number; uid: number; gid: number },
  account: SystemAccount,
): boolean {
  if (directory.uid === account.uid) return (directory.mode & 0o100) !== 0;
  if (directory.gid === account.gid) return (directory.mode & 0o010) !== 0;
  return (directory.mode & 0o001) !== 0;
}

/** Returns the first directory on the real path `path`, from the root down, that `account` may not enter. */
export async function findInaccessibleDirectory(
  path: string,
  account: SystemAccount,
): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent !== path) {
    const closed = await findInaccessibleDirectory(parent, account);
    if (closed !== undefined) return closed;
  }
  return canEnterDirectory(await stat(path), account) ? undefined : path;
}

/** The settings of the embedded server, which `settings` of startEmbeddedPostgres can override. */
const tuning: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '60',
  // Submissions are mostly inserted: keeps visibility maps and GIN pending lists fresh (default 0.2).
  autovacuum_vacuum_insert_scale_factor: '0.02',
  // ANALYZE samples 300 rows per unit. For submissions, the default of 100 takes 62 MB and 1 s of CPU at
  // intervals. Statements are planned without values (kit/database.ts), so they hardly use the common values
  // that it finds.
  default_statistics_target: '25',
  // JIT compilation costs more than it saves on our short statements.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // Formloom reports failed statements. The server's log leaves them out, so it contains no answers.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  cluster_name: 'formloom',
};

/**
 * Returns the settings behind "nothing acknowledged is lost". Tests may turn off what protects only against
 * power loss. A commit still reaches the operating system before it is acknowledged, so tests can kill
 * processes and count rows.
 */
function durability(durable: boolean): Record<string, string> {
  const flushed = durable ? 'on' : 'off';
  return { fsync: flushed, full_page_writes: flushed, synchronous_commit: 'on' };
}

/** Only the suffix of the socket's name: `.s.PGSQL.5432`. */
export const postgresSocketPort = 5432;

/**
 * Returns the settings as arguments of `postgres`. Arguments override postgresql.conf and ALTER SYSTEM, so
 * the code alone decides, also after an upgrade. Connection and durability settings cannot be overridden.
 */
export function buildPostgresArguments(server: {
  directory: string;
  socketDirectory: string;
  durable: boolean;
  settings: Record<string, string>;
}): string[] {
  const fixed: Record<string, string> = {
    listen_addresses: '',
    port: String(postgresSocketPort),
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

/** Quotes an item of unix_socket_directories, a comma-separated list, which may contain commas. */
function quoteListItem(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
