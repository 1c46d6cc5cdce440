/** What kind of error the service says it is. */
type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'validation_error'
  | 'rate_limit_exceeded'
  | 'server_error'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'headers_too_large'
  | 'unsupported_media_type'
  | 'service_unavailable';

/**
 * The body of an answer that is no success: `Error` of api.ts, and written again, as api.ts is made from the operations and
 * the console, which uses these files too, is compiled without it. That both are one is compiled (test/types.ts).
 */
type ErrorBody = {
  error: ErrorCode;
  message: string;
  errors?: { message: string; code: string; field?: string; path?: number[] }[];
  retry_after?: number;
};

/** An answer that is no success. Its message is made for people. */
export class FormloomError extends Error {
  readonly status: number;
  /** What kind of error, for programs. */
  readonly code: ErrorBody['error'] | 'unknown';
  /** Everything that is wrong with what was sent, by field or by the path of a node. */
  readonly errors: NonNullable<ErrorBody['errors']>;
  /** Seconds to wait, when the service asked for patience. */
  readonly retryAfter: number | undefined;
  /** Under which the log of the service has the request. */
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<ErrorBody>, headers: Headers = new Headers()) {
    super(body.message ?? `The service answered ${status}.`);
    this.name = new.target.name;
    this.status = status;
    this.code = body.error ?? 'unknown';
    this.errors = body.errors ?? [];
    this.retryAfter = secondsOf(headers.get('Retry-After')) ?? body.retry_after;
    this.requestId = headers.get('X-Request-Id') ?? undefined;
  }
}

/** 400: the request is not understood. */
export class BadRequestError extends FormloomError {}
/** 401: the key is missing or invalid. */
export class UnauthorizedError extends FormloomError {}
/** 403: the key may not do this. */
export class ForbiddenError extends FormloomError {}
/** 404: there is no such thing, or it is out of the key's reach. */
export class NotFoundError extends FormloomError {}
/** 405: the service does not know this operation; it may be older than the client. */
export class MethodNotAllowedError extends FormloomError {}
/** 409: the thing is in a state that does not allow this. */
export class ConflictError extends FormloomError {}
/** 410: it is no longer there. */
export class GoneError extends FormloomError {}
/** 412: it was changed since it was read, and so was not changed. */
export class PreconditionFailedError extends FormloomError {}
/** 413: too much was sent. */
export class PayloadTooLargeError extends FormloomError {}
/** 415: a file of a type that is not taken. */
export class UnsupportedMediaTypeError extends FormloomError {}
/** 422: `errors` says what is wrong with the data. */
export class ValidationError extends FormloomError {}
/** 431: the request line or the headers are longer than allowed. */
export class HeadersTooLargeError extends FormloomError {}
/** 429: too often; `retryAfter` says how long to wait. It comes when waiting was in vain. */
export class RateLimitError extends FormloomError {}
/** 5xx: something is wrong with the service, or it is away. */
export class ServerError extends FormloomError {}

const byStatus: Readonly<Record<number, typeof FormloomError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  405: MethodNotAllowedError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  422: ValidationError,
  429: RateLimitError,
  431: HeadersTooLargeError,
};

/** There was no answer, or it broke off. `cause` says why. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

const kindOf = (status: number): typeof FormloomError =>
  byStatus[status] ?? (status >= 500 ? ServerError : FormloomError);

/** The error that an answer stands for: of its status, or of the kind that is asked for. */
export async function readError(
  response: Response,
  Kind: typeof FormloomError = kindOf(response.status),
): Promise<FormloomError> {
  return new Kind(response.status, readBody(await response.text().catch(() => '')), response.headers);
}

/** What stands between may answer with a page of its own. */
function readBody(text: string): Partial<ErrorBody> {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

/** Seconds, as this service says them, or the moment that a proxy names. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
