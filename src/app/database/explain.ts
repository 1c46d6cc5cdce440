import { BackupError } from '#backup/fill-table.ts';
import { ConfigError } from '#kit/config.ts';
import { isDiskFull, isUnavailable } from '#kit/database.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/machine.ts';
import { ApiError, findRemedyOfCode, sayWithCause } from '#kit/errors.ts';
import { InstanceStorageError } from '#kit/instance-key.ts';
import { MigrationError } from '#kit/migrate.ts';
import { PoolingError } from '#kit/pooling.ts';
import { WebProcessError } from '#kit/processes/web-process.ts';
import { InstanceKeyError } from '#kit/vault.ts';
import { CheckError } from '../checks/check.ts';

/** These say themselves, in words, what an operator can do. */
const inWords = [
  BackupError,
  ConfigError,
  CheckError,
  PoolingError,
  MigrationError,
  InstanceKeyError,
  InstanceStorageError,
  EmbeddedPostgresError,
  WebProcessError,
];

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'This port is taken. Stop what listens there, or let PORT (or METRICS_LISTEN) name another one.',
  EACCES: 'This port is only for privileged users. Let PORT (or METRICS_LISTEN) name one above 1023.',
  EADDRNOTAVAIL:
    'This machine does not have this address. Let HOST (or METRICS_LISTEN) name one that it has, such as 127.0.0.1 or 0.0.0.0.',
};

const outputProblems: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Make room there, and run the command again.',
  EIO: 'The terminal is closed.',
};

const noPrivilege = '42501';

/** What went wrong, for the operator: in words where the cause is known, else with its trace. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ApiError)
    return error.code === 'service_unavailable' ? sayWithCause(error) : error.message;
  if (inWords.some((ours) => error instanceof ours)) return error.message;
  const { code, syscall, path, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (syscall === 'listen') return `${address}:${port}: ${listenProblems[code ?? ''] ?? error.message}`;
  // Files have a path: this is standard output.
  if (syscall === 'write' && path === undefined)
    return `The output cannot be written: ${outputProblems[code ?? ''] ?? error.message}`;
  const connection = explainConnection(error);
  if (connection !== undefined) return connection;
  if (path !== undefined)
    return `${error.message}. ${findRemedyOfCode(code) ?? 'Choose another DATA_DIR, or correct what is said here'}.`;
  if (isDiskFull(error))
    return `The disk of the database is full: ${error.message}. Make room there, or give it a larger one.`;
  if (code === noPrivilege)
    return `The database does not let Formloom do its work: ${error.message}. Let the role of DATABASE_URL own it: \`alter database … owner to …\`.`;
  return error.stack ?? error.message;
}

type Failure = Error & { code?: string };

/** Errors of connections to the database that nothing else classifies, such as those of a server that is not PostgreSQL. */
const failed = new WeakSet<Error>();

/** Marks what an attempt to connect to the database throws, so that it is explained as that. */
export async function connectOrExplain(connect: () => Promise<void>): Promise<void> {
  try {
    await connect();
  } catch (error) {
    if (error instanceof Error) failed.add(error);
    throw error;
  }
}

const remedies: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^28P01 /, 'Correct the user name or the password in DATABASE_URL.'],
  [/^28000 /, 'Correct the user name in DATABASE_URL, or let this user connect in pg_hba.conf.'],
  [/^3D000 /, 'Create this database (`createdb`), or correct its name in DATABASE_URL.'],
  [/does not support SSL/, 'Turn TLS on at the server, or remove sslmode from DATABASE_URL (and PGSSLMODE).'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|certificate/,
    'Name the certificate of its authority in DATABASE_URL (sslrootcert=/path/ca.pem), and use a host name that the certificate has.',
  ],
  [/^(ENOTFOUND|EAI_AGAIN) /, 'Correct the host name in DATABASE_URL, or the name servers of this machine.'],
  [/^EACCES /, 'Let the user that runs Formloom use this socket, or correct the path in DATABASE_URL.'],
  [/^ENOENT /, 'Start PostgreSQL, or correct the path of its socket in DATABASE_URL.'],
  [
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL) |timeout/,
    'Start PostgreSQL there, or correct the host and the port in DATABASE_URL.',
  ],
];

/** An attempt at several addresses of a name has no message of its own. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError
    ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;

/** Why the database cannot be used, and what to do, in one line; undefined when the error is about something else. */
function explainConnection(error: Error): string | undefined {
  if (isDiskFull(error)) return undefined;
  const { code = '' } = error as Failure;
  const isRefusal = /^(28|3D)...$/.test(code);
  if (!isRefusal && !isUnavailable(error) && !failed.has(error)) return undefined;
  const message = messageOf(error);
  const remedy = remedies.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  const what = isRefusal ? 'The database refuses the connection' : 'The database does not answer';
  return `${what}: ${message}.${remedy === undefined ? ' Correct DATABASE_URL, or what answers there.' : ` ${remedy}`}`;
}
