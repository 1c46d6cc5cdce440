import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { newId, uuidPattern } from './clock.ts';
import type { Config } from './config.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import { jsonBodyLimit, readJsonBody, readLargeJsonBody } from './json-body.ts';
import { type Log, readTraceparent, runInTrace, traceRequests } from './log.ts';
import { resolveRequestError } from './validation.ts';

/**
 * Returns the route pattern of a request with its ids, for logs and lists. The rest of a URL may be secret:
 * the token of a link, an answer, a key that was pasted into it.
 */
export function loggablePath(request: FastifyRequest): string {
  const given = request.params as Readonly<Record<string, string>>;
  const pattern = request.routeOptions.url ?? '(a path that does not exist)';
  return pattern.replace(/:(\w+)/g, (parameter, name: string) => {
    const value = given[name] ?? '';
    return uuidPattern.test(value) ? value : parameter;
  });
}

/** A large body must arrive at 1 MB/s on average. */
const slowestBytesPerMs = 1_000;

/** Not imported: names imported from node:http make Node load its fetch (6 MB and 40 ms of each start). */
const { maxHeaderSize } = process.getBuiltinModule('node:http');

export type Server = FastifyInstance;

export const jsonType = 'application/json; charset=utf-8';
/** Allows only https for this host for a year. Other hosts of the domain are not ours. */
const strictTransport = 'max-age=31536000';
/** The default browser restrictions: a response loads nothing, cannot be framed, and keeps its type. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
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
    if (host !== undefined && options.isOurs?.(host) === false && !sendsKey(request.raw))
      throw new ApiError('bad_request', foreignHost);
    if (refused.has(request.raw)) throw refused.get(request.raw);
    const coding = request.raw.headers['content-encoding'];
    if (coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding))
      throw new ApiError('unsupported_media_type', compressedBody);
    done();
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

export function addJsonParser(server: Server, contentType: string): void {
  server.addContentTypeParser(contentType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    // A DELETE, or a POST without a body, may still have the content type.
    if (body.length === 0) return undefined;
    return body.length > jsonBodyLimit ? readLargeJsonBody(body) : readJsonBody(body);
  });
}

/** Reads bodies of these content types as bytes. */
export function addBytesParser(
  server: Server,
  contentTypes: readonly string[],
  bodyLimit = jsonBodyLimit,
): void {
  server.addContentTypeParser([...contentTypes], { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
}

/** Passes on bodies of these content types as they arrive. @throws ApiError payload_too_large. */
export function addStreamParser(server: Server, contentTypes: readonly string[], bodyLimit: number): void {
  server.addContentTypeParser([...contentTypes], ({ headers }, body, done) =>
    Number(headers['content-length'] ?? 0) > bodyLimit
      ? done(
          new ApiError('payload_too_large', `The body is larger than ${bodyLimit} bytes.`, {
            headers: { Connection: 'close' },
          }),
        )
      : done(null, body),
  );
}

/**
 * Returns which senders of X-Forwarded-For to trust. Fastify ignores a number of proxies, because it cannot
 * verify them. The operator who sets TRUST_PROXY can.
 */
const trusted = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number): boolean => hop < setting : setting;

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

/** Returns the value of `Allow` for the methods of a path. GET includes HEAD. */
export const allowHeader = (answered: readonly string[]): string =>
  answered.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');

/**
 * Responds to all other methods of a path with a 405 and `Allow`, before reading a body.
 * @param answered the methods that have routes.
 */
export function refuseOtherMethods(server: Server, url: string, answered: readonly string[]): void {
  const list = allowHeader(answered);
  const refuse = async (): Promise<never> => {
    throw new ApiError('method_not_allowed', `This path supports ${list}.`, { headers: { Allow: list } });
  };
  server.route({
    method: server.supportedMethods.filter((method) => !list.split(', ').includes(method)),
    url,
    onRequest: refuse,
    handler: refuse,
  });
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

declare const meaning: unique symbol;
/** JSON text of a T, from PostgreSQL or written by hand. It is sent without parsing. */
export type JsonText<T> = string & { readonly [meaning]: T };

/** Marks a text as the JSON of a T, without checking it. Tests check it (compileReplyCheck). */
export const markJsonText = <T>(text: string): JsonText<T> => text as JsonText<T>;

/** A list of JSON texts. They are sent one by one, because all together may block the event loop. */
export type JsonList<T> = {
  readonly items: readonly string[];
  /** The text after `"data":[…]`. */
  readonly ends: string;
  readonly [meaning]?: T;
};

/** Marks items and the other properties as the JSON of a list. */
export const markJsonList = <List extends { data: unknown[] }>(
  items: readonly JsonText<List['data'][number]>[],
  ends: Omit<List, 'data'>,
): JsonList<List> => ({ items, ends: JSON.stringify({ data: 0, ...ends }).slice(9) });

/** Returns the response of an operation as JSON text, or undefined if it has none. */
export function replyText({
  json,
  body,
}: {
  json?: string | JsonList<unknown> | undefined;
  body?: unknown;
}): string | undefined {
  if (typeof json === 'object') return `${beginning}${json.items.join(',')}]${json.ends}`;
  return json ?? (body === undefined ? undefined : JSON.stringify(body));
}

const beginning = '{"data":[';

/** Yields the JSON text of a list in parts. */
export function* jsonListChunks({ items, ends }: JsonList<unknown>): Generator<string> {
  let before = beginning;
  for (const item of items) {
    yield before + item;
    before = ',';
  }
  yield `${items.length === 0 ? beginning : ''}]${ends}`;
}

/** The type of a T after JSON: dates are strings. */
type WireValue<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? WireValue<Item>[]
    : T extends object
      ? { [K in keyof T]: WireValue<T[K]> }
      : T;

/** Returns the value itself, typed as the result of JSON.stringify. */
export const asWireValue = <T>(value: T): WireValue<T> => value as WireValue<T>;

/** Returns the problems of a value, or an empty list. */
type Check = (sent: unknown) => string[];
type CheckedReply = { body?: unknown; json?: string | JsonList<unknown>; stream?: unknown };
type Shape = { readonly status: number; readonly schema?: TSchema; readonly content?: readonly string[] };

/**
 * Compiles the check of an operation's responses against its declared reply, including unexpected JSON
 * fields. It costs several times as much as the request, so only tests turn it on (CHECK_REPLIES).
 */
export function compileReplyCheck(shape: Shape): (answer: CheckedReply) => void {
  let check: Check | undefined;
  return ({ stream, ...answer }) => {
    const text = replyText(answer);
    if (
      (text === undefined) !== (shape.schema === undefined) ||
      (stream === undefined) !== (shape.content === undefined)
    )
      throw new Error('The response does not have the declared kind of content.');
    if (text === undefined) return;
    // The response as it is sent: dates are strings, and undefined properties are missing.
    const sent = JSON.parse(text) as unknown;
    check ??= checkOf(closed(shape.schema) as TSchema);
    const found = check(sent);
    if (found.length > 0)
      throw new Error(`The response does not match its declaration: ${found.slice(0, 5).join('; ')}.`);
  };
}

/** A function, because comparing the library's types of two schemas takes the compiler a second. */
function checkOf(schema: TSchema): Check {
  const compiled = Compile(schema);
  return (sent) => {
    if (compiled.Check(sent)) return [];
    const [, errors] = compiled.Errors(sent);
    return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  };
}

/** Returns the schema with additional properties forbidden where it does not allow them explicitly. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen =
    !('properties' in schema) || 'additionalProperties' in schema || 'patternProperties' in schema;
  return isOpen ? copy : { ...copy, additionalProperties: false };
}
