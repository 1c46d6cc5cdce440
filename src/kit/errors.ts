import type { ProblemCode } from '#ast/basics/problem-codes.ts';
import { sayCount } from '#ast/basics/say-count.ts';
import { isUnavailable } from './database.ts';

/**
 * Every error code the service answers with: its status and its default sentence.
 * The first seven are the specification's ("Errors"); the rest are docs/rules.md 9. A new code is one line here.
 */
export const errorCodes = {
  bad_request: { status: 400, message: 'The request is not understood.' },
  unauthorized: { status: 401, message: 'The API key is missing or invalid.' },
  forbidden: { status: 403, message: 'The API key lacks a required permission.' },
  not_found: { status: 404, message: 'The resource does not exist.' },
  validation_error: { status: 422, message: 'The data failed validation.' },
  rate_limit_exceeded: { status: 429, message: 'The rate limit is exceeded.' },
  server_error: { status: 500, message: 'Something went wrong on our side.' },
  method_not_allowed: { status: 405, message: 'This path does not answer this method.' },
  conflict: { status: 409, message: 'The resource is in a state that does not allow this.' },
  gone: { status: 410, message: 'The resource is no longer available.' },
  precondition_failed: {
    status: 412,
    message:
      'This was changed since you read it, so nothing was done. Look at it as it is now, then try again.',
  },
  payload_too_large: { status: 413, message: 'The request is too large.' },
  headers_too_large: { status: 431, message: 'The address and headers are too large.' },
  unsupported_media_type: { status: 415, message: 'This content type is not accepted here.' },
  service_unavailable: { status: 503, message: 'The service cannot answer right now. Try again shortly.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * One item of `errors`: by `field` (general validation), or by `path` (form structure). Specification, "Errors". An item
 * without a code of its own gets `invalid`, so that every item in an answer has one.
 */
export type ErrorItem = { message: string; field?: string; path?: number[]; code?: ProblemCode };

export const bareItem = ({
  message,
  field,
  path,
  code = 'invalid',
}: ErrorItem): ErrorItem & { code: ProblemCode } => ({
  ...(field !== undefined && { field }),
  message,
  code,
  ...(path && { path }),
});

/** The JSON body of every error answer. Specification, "Errors". */
type ErrorBody = {
  error: ErrorCode;
  message: string;
  errors?: readonly ErrorItem[];
  retry_after?: number;
};

/** What a room throws to end a request with one of the table's codes. Its message is meant for the caller. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: readonly ErrorItem[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string = errorCodes[code].message,
    more: {
      errors?: readonly ErrorItem[];
      headers?: Record<string, string>;
      retryAfter?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = errorCodes[code].status;
    // Every 422 has `errors`: clients show them one by one. The field is `body` if no other is named.
    this.errors = more.errors ?? (code === 'validation_error' ? [{ field: 'body', message }] : undefined);
    this.retryAfter = more.retryAfter;
    this.headers = {
      ...more.headers,
      ...(more.retryAfter === undefined ? {} : { 'Retry-After': String(more.retryAfter) }),
    };
  }

  get body(): ErrorBody {
    return {
      error: this.code,
      message: this.message,
      // What a room knows beyond an item's own members stays here.
      ...(this.errors && { errors: this.errors.map(bareItem) }),
      ...(this.retryAfter !== undefined && { retry_after: this.retryAfter }),
    };
  }
}

/**
 * The 429 for a request that has to wait so many seconds, with retry_after and Retry-After. Specification, "Errors".
 * @param why the sentence before the one that says how long.
 */
export function rateLimitExceeded(seconds: number, why = 'The rate limit is exceeded.'): ApiError {
  return new ApiError('rate_limit_exceeded', `${why} Try again in ${sayCount(seconds, 'second')}.`, {
    retryAfter: seconds,
  });
}

/** What an error says, with why where that stands behind it: for operators, since callers are not told. */
export const sayWithCause = ({ message, cause }: Error): string =>
  cause instanceof Error && !message.includes(cause.message)
    ? `${message} ${cause.message.replace(/\.?$/, '.')}`
    : message;

const permission = 'Give it to the user that runs Formloom (chown, chmod u+rwx), or choose another DATA_DIR';
const diskFull = 'The disk is full: free some space';
const openFiles =
  'A process may open too few files: raise the limit (`ulimit -n 1024` or more, LimitNOFILE= of systemd)';
const blocked = 'A file is in the way: remove it, or choose another DATA_DIR';

/** What an operator can do about a failed system call, by the code of its error: sentences without their full stop. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['EMFILE', openFiles],
  ['ENFILE', 'The system has too many open files: raise its limit (`sysctl fs.file-max`)'],
  [
    'EFBIG',
    'A process may only write small files: raise the limit (`ulimit -f unlimited`, LimitFSIZE= of systemd)',
  ],
  ['EROFS', 'This disk can only be read: choose a DATA_DIR on one that can be written'],
  ['ENOSPC', diskFull],
  ['EDQUOT', diskFull],
  ['EIO', 'The disk reports an error: check it and the log of the system'],
  ['ENOMEM', 'There is too little memory: free some'],
  [
    'EAGAIN',
    'The user that runs Formloom may have too few processes: raise the limit (`ulimit -u`, TasksMax= of systemd, --pids-limit of containers)',
  ],
  ['EACCES', permission],
  ['EPERM', permission],
  ['ENOTDIR', blocked],
  ['EEXIST', blocked],
  ['ENAMETOOLONG', 'This path is too long: choose a shorter DATA_DIR'],
  ['ELOOP', 'These symbolic links lead to themselves: correct them, or choose another DATA_DIR'],
  ['ENOENT', 'This path does not exist: make it, or choose another DATA_DIR'],
]);

/** Returns the remedy for an error code of a system call, such as `EMFILE`; undefined for a code without one. */
export const findRemedyOfCode = (code: unknown): string | undefined => remedies.get(String(code));

/** The C library's words for these codes, as PostgreSQL's programs print them at the end of a line. */
const codesByWords: Readonly<Record<string, string>> = {
  'Too many open files': 'EMFILE',
  'Too many open files in system': 'ENFILE',
  'File too large': 'EFBIG',
  'Read-only file system': 'EROFS',
  'No space left on device': 'ENOSPC',
  'Disk quota exceeded': 'EDQUOT',
  'Input/output error': 'EIO',
  'Cannot allocate memory': 'ENOMEM',
  'Resource temporarily unavailable': 'EAGAIN',
  'Permission denied': 'EACCES',
  'Operation not permitted': 'EPERM',
  'Not a directory': 'ENOTDIR',
  'File name too long': 'ENAMETOOLONG',
  'No such file or directory': 'ENOENT',
};

/** Returns the code whose words end a line of output: what comes before them may be any path. */
export const findCodeAtEnd = (line: string): string | undefined =>
  codesByWords[/(?:^|: )([^:]+?)\.?$/.exec(line)?.[1] ?? ''];

/** Whether the database was away, also for each part of work that failed in parts. */
export const isOfDatabaseAway = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.every(isOfDatabaseAway) : isUnavailable(error);

/** An error as the log shows it. A database that is away or starting up is one line: its stack says nothing. */
export const loggedError = (error: unknown): { reason: string } | { err: unknown } =>
  isOfDatabaseAway(error) ? { reason: (error as Error).message } : { err: error };
