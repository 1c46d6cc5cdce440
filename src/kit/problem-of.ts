import type { FastifyError, FastifyRequest } from 'fastify';
import { TooMuchWork } from '#ast/work.ts';
import { isDiskFull, isUnavailable } from './database.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import { jsonBodyLimit } from './json-body.ts';
import { loggedError } from './logged-error.ts';

/** What the framework's own client errors mean in our table. */
const frameworkCodes: Readonly<Record<string, [ErrorCode, string?]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as Content-Type: application/json.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `The body is larger than ${jsonBodyLimit} bytes.`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The body is not as long as Content-Length says.'],
};

const foreignKeyViolation = '23503';
/** What PostgreSQL says to whom it does not let in: a role that may not sign in, another password. */
const lockedOut = /^28/;

/** What an error that ended a request is answered with. What is ours to mend is logged. */
export function problemOf(error: unknown, request: FastifyRequest): ApiError {
  // Whoever hangs up in the middle of a body has the same code as a database that does.
  if (error === request.raw.errored)
    return new ApiError('bad_request', 'The request ended before its body.', { cause: error });
  const problem = toApiError(error);
  if (problem.status >= 500) logFailure(error, request);
  return problem;
}

/** While the database is away every request fails for one reason: it is said this often. */
const awayMs = 10_000;
let toldAwayAt = Number.NEGATIVE_INFINITY;

function logFailure(error: unknown, { log }: FastifyRequest): void {
  if (isDiskFull(error))
    return log.error({ err: error }, 'a request failed: the disk of the database is full');
  if (!isUnavailable(error)) return log.error({ err: error }, 'a request failed');
  const isTold = performance.now() - toldAwayAt < awayMs;
  if (!isTold) toldAwayAt = performance.now();
  log[isTold ? 'debug' : 'warn'](loggedError(error), 'requests fail: the database does not answer');
}

/** Any error as one of the table's. What is not meant for the caller becomes server_error, without its text. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TooMuchWork) {
    const { message } = error;
    return new ApiError('validation_error', message, {
      errors: [{ field: 'answers', message, code: 'too_large' }],
      cause: error,
    });
  }
  const { code, statusCode } = error as Partial<FastifyError>;
  if (isUnavailable(error) || lockedOut.test(code ?? ''))
    return new ApiError('service_unavailable', undefined, { retryAfter: 1, cause: error });
  // What the request was about was deleted between its first statement and this one.
  if (code === foreignKeyViolation) return new ApiError('not_found', undefined, { cause: error });
  const known = code === undefined ? undefined : frameworkCodes[code];
  if (known) return new ApiError(known[0], known[1], { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiError('bad_request', undefined, { cause: error });
  return new ApiError('server_error', undefined, { cause: error });
}
