import { formatCount } from '#ast/basics/format-number.ts';
import type { ProblemCode } from '#ast/basics/problems.ts';
import { isUnavailableError } from './database.ts';

/**
 * The error codes of the service, with their status and default message. The first seven are the
 * specification's ("Errors"); the rest are from docs/rules.md 9.
 */
export const errorCodes = {
  bad_request: { status: 400, message: 'The request could not be understood.' },
  unauthorized: { status: 401, message: 'The API key is missing or invalid.' },
  forbidden: { status: 403, message: 'The API key lacks a required permission.' },
  not_found: { status: 404, message: 'The resource does not exist.' },
  validation_error: { status: 422, message: 'The data failed validation.' },
  rate_limit_exceeded: { status: 429, message: 'The rate limit was exceeded.' },
  server_error: { status: 500, message: 'Something went wrong on our side.' },
  method_not_allowed: { status: 405, message: 'This path does not support this method.' },
  conflict: { status: 409, message: 'The resource is in a state that does not allow this.' },
  gone: { status: 410, message: 'The resource is no longer available.' },
  precondition_failed: {
    status: 412,
    message:
      'This was changed after you read it, so nothing was done. Get the current version, then try again.',
  },
  payload_too_large: { status: 413, message: 'The request is too large.' },
  headers_too_large: { status: 431, message: 'The URL and headers are too large.' },
  unsupported_media_type: { status: 415, message: 'This content type is not accepted here.' },
  service_unavailable: { status: 503, message: 'The service is temporarily unavailable. Try again shortly.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * An item of `errors`, with a `field` (general validation) or a `path` (form structure). Specification,
 * "Errors". An item without a code gets `invalid`, so that every item in a response has one.
 */
export type ErrorItem = { message: string; field?: string; path?: number[]; code?: ProblemCode };

export const completeErrorItem = ({
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

/** The JSON body of every error response. Specification, "Errors". */
type ErrorBody = { error: ErrorCode; message: string; errors?: readonly ErrorItem[]; retry_after?: number };

/** Ends a request with one of the error codes. Its message is meant for the caller. */
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
    // Every 422 has `errors`, which clients show one by one. The default field is `body`.
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
      // Additional properties of an item are not sent.
      ...(this.errors && { errors: this.errors.map(completeErrorItem) }),
      ...(this.retryAfter !== undefined && { retry_after: this.retryAfter }),
    };
  }
}

/**
 * Creates the 429 for a request that must wait `seconds`, with retry_after and Retry-After. Specification,
 * "Errors".
 * @param why the sentence before "Try again in …".
 */
export function rateLimitExceeded(seconds: number, why = 'The rate limit was exceeded.'): ApiError {
  return new ApiError('rate_limit_exceeded', `${why} Try again in ${formatCount(seconds, 'second')}.`, {
    retryAfter: seconds,
  });
}

/** Returns the message of an error with that of its cause, for operators. Callers do not see the cause. */
export const formatWithCause = ({ message, cause }: Error): string =>
  cause instanceof Error && !message.includes(cause.message)
    ? `${message} ${cause.message.replace(/\.?$/, '.')}`
    : message;

const permission =
  'Give the user that runs Formloom access to the path (chown, chmod u+rwx), or choose another DATA_DIR';
const diskFull = 'The disk is full: free up some space';
const openFiles =
  'The open file limit of a process is too low: raise it (`ulimit -n 1024` or more, LimitNOFILE= in systemd)';
const blocked = 'A file is in the way: remove it, or choose another DATA_DIR';

/** Remedies for failed system calls, by error code. No full stop, because a sentence continues them. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['EMFILE', openFiles],
  ['ENFILE', 'The system has too many open files: raise its limit (`sysctl fs.file-max`)'],
  [
    'EFBIG',
    'The file size limit of a process is too low: raise it (`ulimit -f unlimited`, LimitFSIZE= in systemd)',
  ],
  ['EROFS', 'This disk is read-only: choose a DATA_DIR on a writable one'],
  ['ENOSPC', diskFull],
  ['EDQUOT', diskFull],
  ['EIO', 'The disk reports an error: check the disk and the system log'],
  ['ENOMEM', 'There is too little memory: free up some memory'],
  [
    'EAGAIN',
    'The process limit of the user that runs Formloom is too low: raise it (`ulimit -u`, TasksMax= in systemd, --pids-limit for containers)',
  ],
  ['EACCES', permission],
  ['EPERM', permission],
  ['ENOTDIR', blocked],
  ['EEXIST', blocked],
  ['ENAMETOOLONG', 'This path is too long: choose a shorter DATA_DIR'],
  ['ELOOP', 'These symbolic links form a loop: correct them, or choose another DATA_DIR'],
  ['ENOENT', 'This path does not exist: create it, or choose another DATA_DIR'],
]);

/** Returns the remedy for a system error code, such as `EMFILE`, or undefined if there is none. */
export const findRemedyOfCode = (code: unknown): string | undefined => remedies.get(String(code));

/** The C library's messages for these codes, as PostgreSQL's programs print them at the end of a line. */
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

/** Returns the code for the message at the end of an output line. Any path may come before the message. */
export const findErrorCodeInLine = (line: string): string | undefined =>
  codesByWords[/(?:^|: )([^:]+?)\.?$/.exec(line)?.[1] ?? ''];

/** Returns whether the database was unavailable. An AggregateError counts only if all its errors do. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.every(isDatabaseUnavailable) : isUnavailableError(error);

/** Formats an error for the log. An unavailable database is one line, because a stack would not help. */
export const toLoggedError = (error: unknown): { reason: string } | { err: unknown } =>
  isDatabaseUnavailable(error) ? { reason: (error as Error).message } : { err: error };
