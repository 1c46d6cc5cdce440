import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { newId } from './clock.ts';
import type { Config } from './config.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import { addJsonParser, jsonType, loggablePath, type Server, securityHeaders } from './http.ts';
import { jsonBodyLimit } from './json-body.ts';
import { type Log, readTraceparent, runInTrace, traceRequests } from './log.ts';
import { resolveRequestError } from './validation.ts';

/** A large body must arrive at 1 MB/s on average. */
const slowestBytesPerMs = 1_000;

/** Not imported: names imported from node:http make Node load its fetch (6 MB and 40 ms of each start). */
const { maxHeaderSize } = process.getBuiltinModule('node:http');

/** Allows only https for this host for a year. Other hosts of the domain are not ours. */
const strictTransport = 'max-age=31536000';
/** Formats headers for responses that are written without the framework. */
const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const foreignHost =
  'The service does not respond to this host name. The operator must set PUBLIC_URL to the public URL, and list other names in ALLOWED_HOSTS.';

/** Returns whether a request has a key. Browsers send cookies automatically, but never a key. */
const sendsKey = ({ headers }: IncomingMessage): boolean =>
  /^bearer[ \t]+\S/i.test(headers.authorization ?? '');

const compressedBody = 'Compressed request bodies are not accepted. Send the body without Content-Encoding.';

/** Requests that must fail, with the error. */
const refused = new WeakMap<IncomingMessage, unknown>();

/** Makes a request fail where it is handled, so that pages respond with a page and the API with JSON. */
export const markRequestRefused = (request: IncomingMessage, why: unknown): void =>
  void refused.set(request, why);

/**
 * Replaces Fastify's schema compilers, which would load Ajv and others (150 modules). validation.ts checks
 * requests, and responses are text.
 */
const withoutSchemas = (): never => {
  throw new Error('A route has a Fastify schema: declare it with operation.ts instead.');
};

/**
 * Opens a server with our limits, JSON parser and error responses. The caller adds routes. Every response has
 * X-Request-Id, which its log lines contain.
 */
export function openServer(options: {
  log: Log;
  trustProxy: Config['trustProxy'];
  /** Whether the public URL is https. */
  isSecure?: boolean;
  /** Whether a Host header belongs to this service. */
  isOurs?: (host: string) => boolean;
  admitsOther?: Admits;
  /** Returns the path that serves a request, if it differs from the requested one. */
  pathOf?: (method: string, path: string) => string;
  /** Returns headers for responses to requests that are not valid HTTP. */
  brokenHeaders?: () => Readonly<Record<string, string>>;
  /** The bytes of the largest body, which determine how long a request may take. */
  largestBody?: number;
  /** Is called after each response, for metrics. */
  onAnswered?: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined;
}): Server {
  const loggerInstance: FastifyBaseLogger = options.log;
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trusted(options.trustProxy),
    genReqId: newId,
    bodyLimit: jsonBodyLimit,
    // Headers may take 10 s. A whole request may take 2 minutes, or longer if the operator allows large files.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000 },
    requestTimeout: Math.max(120_000, (options.largestBody ?? 0) / slowestBytesPerMs),
    keepAliveTimeout: 10_000,
    // The router accepts every path, so that its scope answers with its own headers.
    routerOptions: { maxParamLength: maxHeaderSize },
    rewriteUrl: (request) => rewritten(request, options.pathOf),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options.brokenHeaders?.()),
    schemaController: {
      compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas },
    },
  });
  server.removeAllContentTypeParsers();
  addJsonParser(server, 'application/json');
  traceRequests(server);
  // A callback, because a promise would cost more than the work of the hook.
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    reply.headers(securityHeaders);
    if (options.isSecure) reply.header('Strict-Transport-Security', strictTransport);
    const { host } = request.raw.headers;
    // DNS rebinding lets another site act as a page of this one, but does not give it a key.
    const isOther = host !== undefined && options.isOurs?.(host) === false && !sendsKey(request.raw);
    if (isOther) void admitOther(request, host, options.admitsOther, done);
    else done(findRefusal(request));
  });
  server.addHook('onResponse', (request, reply, done) => {
    options.onAnswered?.(request, reply);
    if (options.log.isLevelEnabled('info')) logAnswer(request, reply);
    done();
  });
  server.setErrorHandler((error, request, reply) => {
    const problem = resolveRequestError(error, request);
    return reply.code(problem.status).headers(problem.headers).type(jsonType).send(problem.body);
  });
  server.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'This path does not exist.');
  });
  return server;
}

function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { method } = request;
  const ms = Math.round(reply.elapsedTime);
  runInTrace(readTraceparent(request.headers['traceparent']), () =>
    request.log.info({ method, path: loggablePath(request), status: reply.statusCode, ms }, 'answered'),
  );
}

/**
 * Returns which senders of X-Forwarded-For to trust. Fastify ignores a number of proxies, because it cannot
 * verify them. The operator who sets TRUST_PROXY can.
 */
const trusted = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number): boolean => hop < setting : setting;

function findRefusal({ raw }: FastifyRequest): Error | undefined {
  if (refused.has(raw)) return refused.get(raw) as Error;
  const coding = raw.headers['content-encoding'];
  return coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding)
    ? new ApiError('unsupported_media_type', compressedBody)
    : undefined;
}

/** Calls `done` with the error of a request to another host, if it is refused. */
async function admitOther(
  request: FastifyRequest,
  host: string,
  admits: Admits = () => Promise.resolve(false),
  done: (error?: Error) => void,
): Promise<void> {
  try {
    done((await admits(request, host)) ? findRefusal(request) : new ApiError('bad_request', foreignHost));
  } catch (error) {
    done(error as Error);
  }
}

/** Returns whether a request to another host is admitted. @throws if the host is known, but not the path. */
type Admits = (request: FastifyRequest, host: string) => Promise<boolean>;

type PathOf = (method: string, path: string) => string;

function rewritten(request: IncomingMessage, pathOf: PathOf = (_method, path) => path): string {
  const url = readableUrl(request);
  const end = /[?#]|$/.exec(url)!.index;
  return `${pathOf(request.method ?? 'GET', url.slice(0, end))}${url.slice(end)}`;
}

/** Keeps a path with a broken escape (`%zz`) literally. The request then usually returns 404. */
function readableUrl(request: { url?: string | undefined }): string {
  const { url = '/' } = request;
  const path = url.split(/[?#]/, 1)[0]!;
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

/**
 * Responds to requests that are not valid HTTP, or whose headers are too slow or too large, and disconnects.
 */
function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket & { readonly ['_httpMessage']?: ServerResponse },
  more: Readonly<Record<string, string>> = {},
): void {
  // After a response has begun, these bytes would be read as part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || socket['_httpMessage']?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message, code } = brokenRequests[error.code ?? ''] ?? brokenRequest;
  const body = JSON.stringify({ error: code, message } satisfies { error: ErrorCode; message: string });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${jsonType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${linesOf({ ...securityHeaders, ...more })}Connection: close\r\n\r\n${body}`,
  );
}

type Broken = { readonly status: string; readonly message: string; readonly code: ErrorCode };
const brokenRequest: Broken = {
  status: '400 Bad Request',
  message: 'The request is not valid HTTP.',
  code: 'bad_request',
};
const brokenRequests: Readonly<Record<string, Broken>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    message: `The URL and headers are larger than ${maxHeaderSize} bytes.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request arrived too slowly.',
    code: 'bad_request',
  },
};
