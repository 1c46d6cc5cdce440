import { BackupError } from '#backup/fill-table.ts';
import { ConfigError } from '#kit/config.ts';
import { isDiskFull } from '#kit/database.ts';
import { ApiError, findRemedyOfCode, sayWithCause } from '#kit/errors.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/machine.ts';
import { InstanceStorageError } from '#kit/instance-key.ts';
import { MigrationError } from '#kit/migrate.ts';
import { PoolingError } from '#kit/pooling.ts';
import { CheckError } from './checks/check.ts';
import { explainConnection } from './explain-connection.ts';
import { InstanceKeyError } from '#kit/vault.ts';
import { WebProcessError } from '#kit/processes/web-process.ts';

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
