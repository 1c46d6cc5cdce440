import { findCodeAtEnd, findRemedyOfCode } from '../system-errors.ts';

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
