import { BackupError } from '#backup/fill-table.ts';
import { ConfigError } from '#kit/config.ts';
import { isDiskFull, isUnavailableError } from '#kit/database.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/machine.ts';
import { ApiError, findRemedyOfCode, formatWithCause } from '#kit/errors.ts';
import { InstanceStorageError } from '#kit/instance-key.ts';
import { MigrationError } from '#kit/migrate.ts';
import { PoolingError } from '#kit/pooling.ts';
import { WebProcessError } from '#kit/processes/web-process.ts';
import { InstanceKeyError } from '#kit/vault.ts';
import { CheckError } from '../checks/check.ts';

/** Errors whose messages tell the operator what to do. */
const explainedErrors = [
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
    'This port is in use. Stop the program that uses it, or set PORT (or METRICS_LISTEN) to another one.',
  EACCES: 'Only privileged users can use this port. Set PORT (or METRICS_LISTEN) to a port above 1023.',
  EADDRNOTAVAIL:
    'This machine does not have this address. Set HOST (or METRICS_LISTEN) to an address of this machine, such as 127.0.0.1 or 0.0.0.0.',
};

const outputProblems: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free up space on it, and run the command again.',
  EIO: 'The terminal is closed.',
};

const noPrivilege = '42501';

/** Explains an error to the operator: in words if the cause is known, otherwise with its stack trace. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ApiError)
    return error.code === 'service_unavailable' ? formatWithCause(error) : error.message;
  if (explainedErrors.some((ours) => error instanceof ours)) return error.message;
  const { code, syscall, path, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (syscall === 'listen') return `${address}:${port}: ${listenProblems[code ?? ''] ?? error.message}`;
  // File errors have a path, so this error is from standard output.
  if (syscall === 'write' && path === undefined)
    return `The output cannot be written: ${outputProblems[code ?? ''] ?? error.message}`;
  const connection = explainConnection(error);
  if (connection !== undefined) return connection;
  if (path !== undefined)
    return `${error.message}. ${findRemedyOfCode(code) ?? 'Choose another DATA_DIR, or fix this problem'}.`;
  if (isDiskFull(error))
    return `The database disk is full: ${error.message}. Free up space on it, or enlarge it.`;
  if (code === noPrivilege)
    return `The database role lacks privileges: ${error.message}. Make the role in DATABASE_URL the owner: \`alter database … owner to …\`.`;
  return error.stack ?? error.message;
}

type Failure = Error & { code?: string };

/** Connection errors that are not recognized otherwise, such as those of a server that is not PostgreSQL. */
const failed = new WeakSet<Error>();

/**
 * Marks the errors of an attempt to connect to the database, so that they are explained as connection errors.
 */
export async function markConnectionErrors(connect: () => Promise<void>): Promise<void> {
  try {
    await connect();
  } catch (error) {
    if (error instanceof Error) failed.add(error);
    throw error;
  }
}

const remedies: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^28P01 /, 'Correct the user name or password in DATABASE_URL.'],
  [/^28000 /, 'Correct the user name in DATABASE_URL, or allow this user in pg_hba.conf.'],
  [/^3D000 /, 'Create this database (`createdb`), or correct its name in DATABASE_URL.'],
  [/does not support SSL/, 'Enable TLS on the server, or remove sslmode from DATABASE_URL (and PGSSLMODE).'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|certificate/,
    "Set the CA certificate in DATABASE_URL (sslrootcert=/path/ca.pem), and use a host name that is in the server's certificate.",
  ],
  [/^(ENOTFOUND|EAI_AGAIN) /, 'Correct the host name in DATABASE_URL, or the DNS settings of this machine.'],
  [
    /^EACCES /,
    'Give the user that runs Formloom access to this socket, or correct the path in DATABASE_URL.',
  ],
  [/^ENOENT /, 'Start PostgreSQL, or correct the path of its socket in DATABASE_URL.'],
  [
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL) |timeout/,
    'Start PostgreSQL there, or correct the host and port in DATABASE_URL.',
  ],
];

/** An error about several addresses of a host has no message, so the messages for each are joined. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError
    ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;

/** Returns why the database cannot be used and what to do, on one line; undefined for other errors. */
function explainConnection(error: Error): string | undefined {
  if (isDiskFull(error)) return undefined;
  const { code = '' } = error as Failure;
  const isRefusal = /^(28|3D)...$/.test(code);
  if (!isRefusal && !isUnavailableError(error) && !failed.has(error)) return undefined;
  const message = messageOf(error);
  const remedy = remedies.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  const what = isRefusal ? 'The database refuses the connection' : 'The database does not respond';
  return `${what}: ${message}.${remedy === undefined ? ' Check DATABASE_URL and the server there.' : ` ${remedy}`}`;
}
