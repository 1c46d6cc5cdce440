/**
 * What embedded PostgreSQL throws: always a readable sentence that says what failed, where, and what to do.
 * The cause, when there is one, is kept in `cause`.
 */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** The way out that is always open; ends most messages. */
export const elsewhere = 'or set DATABASE_URL to use another PostgreSQL';

/** First what only one cause says; a message of a later step may name memory or disk too. */
const remedies: ReadonlyArray<readonly [pattern: RegExp, remedy: string]> = [
  [
    /insufficient file descriptors|Too many open files|EMFILE|ENFILE|too few file descriptors/,
    'A process may open too few files: raise the limit (`ulimit -n 1024` or more, LimitNOFILE= of systemd)',
  ],
  [
    /File too large|EFBIG|SIGXFSZ|ended by signal 25|signal 25/,
    'A process may only write small files: raise the limit (`ulimit -f unlimited`, LimitFSIZE= of systemd)',
  ],
  [
    /resize shared memory segment|posix_fallocate.*shared memory|\/dev\/shm|shared memory segment "\/PostgreSQL/,
    'There is too little shared memory: give /dev/shm 64 MB or more (`--shm-size` of containers)',
  ],
  [/Read-only file system|EROFS/, 'This disk can only be read: choose a DATA_DIR on one that can be written'],
  [/No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/, 'The disk is full: free some space'],
  [/GLIBC_[\d.]+' not found/, 'This system is too old for these binaries (they need glibc 2.27): upgrade it'],
  [/error while loading shared libraries/, 'A library is missing or unreadable: run `npm ci` again'],
  [
    /could not look up effective user ID/,
    'The user that runs Formloom needs an entry in /etc/passwd: add one',
  ],
  [/\.s\.PGSQL\.\d+\.lock" already exists/, 'Another PostgreSQL holds this socket: stop it'],
  [
    /postmaster\.pid" already exists|still in use/,
    'Another PostgreSQL still works in this directory: stop it',
  ],
  [/Cannot allocate memory|out of memory|ENOMEM/, 'There is too little memory: free some'],
  [/unrecognized configuration parameter|invalid value for parameter/, 'Correct that database setting'],
  [
    /Permission denied|wrong ownership|invalid permissions|EACCES|EPERM/,
    'Give the directory to the user that runs Formloom (chown, chmod u+rwx), or choose another DATA_DIR',
  ],
  [/ENOTDIR|EEXIST/, 'A file is in the way: remove it, or choose another DATA_DIR'],
  [/ENOENT/, 'This path does not exist: make it, or choose another DATA_DIR'],
];

/**
 * Reads the output of a PostgreSQL program, or the message of a file system error, and says what to do about it.
 * Always a full sentence.
 */
export function suggestRemedy(output: string): string {
  const known = remedies.find(([pattern]) => pattern.test(output))?.[1];
  return `${known ?? 'Correct what is said above'}, ${elsewhere}.`;
}

/** A failed file operation, as a readable error: `attempt` completes "Formloom cannot …". */
export function fileError(attempt: string, error: unknown): EmbeddedPostgresError {
  const message = error instanceof Error ? error.message : String(error);
  return new EmbeddedPostgresError(`Formloom cannot ${attempt} (${message}). ${suggestRemedy(message)}`, {
    cause: error,
  });
}

/** Whether `error` carries one of these system or SQLSTATE codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
