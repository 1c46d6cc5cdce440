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
import { problemOf } from './validation.ts';

/**
 * Where a request went, as logs and lists may say it: the pattern of its route, with the ids that are in it. What else
 * stands in an address may be somebody's secret: the token of a link, an answer, a key that was pasted into it.
 */
export function placeOf(request: FastifyRequest): string {
  const given = request.params as Readonly<Record<string, string>>;
  const pattern = request.routeOptions.url ?? '(a path that does not exist)';
  return pattern.replace(/:(\w+)/g, (parameter, name: string) => {
    const value = given[name] ?? '';
    return uuidPattern.test(value) ? value : parameter;
  });
}

/** Not imported: with the names that a module can import from node:http, Node loads its fetch, which is 6 MB and 40 ms of each start. */
const { maxHeaderSize } = process.getBuiltinModule('node:http');

export type Server = FastifyInstance;

export const jsonType = 'application/json; charset=utf-8';
/** A year of https alone for this host; not for others of its domain, which are not ours. */
const strictTransport = 'max-age=31536000';
/** What an answer may do in a browser where its route says nothing else: load nothing, be framed by nobody, be nothing but its type. */
export const bareHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
/** Headers as they are sent where there is no framework. */
const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const foreignHost =
  'The service does not answer under this host name. Whoever runs it sets PUBLIC_URL to the address that people use, and ALLOWED_HOSTS to other names.';

/** Whether a request says itself who it comes from, as no cookie does. */
const sendsKey = ({ headers }: IncomingMessage): boolean =>
  /^bearer[ \t]+\S/i.test(headers.authorization ?? '');

const compressedBody = 'Compressed request bodies are not accepted. Send the body without Content-Encoding.';

/** Requests that cannot be answered, and why. */
const refused = new WeakMap<IncomingMessage, unknown>();

/** Has whatever a request leads to answer that it fails, as each does in its own way: a page with a page, the API with JSON. */
export const refuseRequest = (request: IncomingMessage, why: unknown): void => void refused.set(request, why);

/**
 * In place of Fastify's compilers of schemas, which it else loads (Ajv and others, 150 modules): what comes in is checked
 * by validation.ts, and what goes out is text.
 */
const withoutSchemas = (): never => {
  throw new Error('A route has a schema of Fastify: declare it with operation.ts instead.');
};

/**
 * A server with our limits, our JSON reading and our error answers; routes are added by the caller.
 * Every answer carries X-Request-Id, under which its log lines are found.
 */
export function openServer(options: {
  log: Log;
  trustProxy: Config['trustProxy'];
  /** Whether people reach it by https. */
  isSecure?: boolean;
  /** Whether it answers under what a request says in its Host header. */
  isOurs?: (host: string) => boolean;
  /** The path at which a request is served, where that is another one than it asks for. */
  pathOf?: (method: string, path: string) => string;
  /** What every answer carries that is not HTTP at all. */
  brokenHeaders?: () => Readonly<Record<string, string>>;
  /** Counts what was answered. */
  onAnswered?: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined;
}): Server {
  const loggerInstance: FastifyBaseLogger = options.log;
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trusted(options.trustProxy),
    genReqId: newId,
    bodyLimit: jsonBodyLimit,
    // Slow senders of headers are cut after 10 s; a whole request may take 2 minutes, for files on slow lines.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000 },
    requestTimeout: 120_000,
    keepAliveTimeout: 10_000,
    // No path is refused by the router: it is answered by its scope, with what every answer there carries.
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
  readJson(server, 'application/json');
  traceRequests(server);
  // A hook that waits for nothing is no promise: that would cost more than what it does.
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    reply.headers(bareHeaders);
    if (options.isSecure) reply.header('Strict-Transport-Security', strictTransport);
    const { host } = request.raw.headers;
    // Rebinding a name makes another site's page a part of this one, but tells it no key.
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
    const problem = problemOf(error, request);
    return reply.code(problem.status).headers(problem.headers).type(jsonType).send(problem.body);
  });
  server.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'There is nothing at this path.');
  });
  return server;
}

function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { method } = request;
  const ms = Math.round(reply.elapsedTime);
  runInTrace(readTraceparent(request.headers['traceparent']), () =>
    request.log.info({ method, path: placeOf(request), status: reply.statusCode, ms }, 'answered'),
  );
}

export function readJson(server: Server, contentType: string): void {
  server.addContentTypeParser(contentType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    // A DELETE, or a POST that needs no body, may say the type all the same.
    if (body.length === 0) return undefined;
    return body.length > jsonBodyLimit ? readLargeJsonBody(body) : readJsonBody(body);
  });
}

/** Takes bodies of these content types as their bytes. */
export function readFiles(server: Server, contentTypes: readonly string[], bodyLimit = jsonBodyLimit): void {
  server.addContentTypeParser([...contentTypes], { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
}

/**
 * Which senders of X-Forwarded-For to believe. The framework ignores a number of proxies, as it cannot know that
 * requests come through them; the operator who sets TRUST_PROXY does.
 */
const trusted = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number): boolean => hop < setting : setting;

type PathOf = (method: string, path: string) => string;

function rewritten(request: IncomingMessage, pathOf: PathOf = (_method, path) => path): string {
  const url = readableUrl(request);
  const end = /[?#]|$/.exec(url)!.index;
  return `${pathOf(request.method ?? 'GET', url.slice(0, end))}${url.slice(end)}`;
}

/** A path with a broken escape (`%zz`) is read as it stands: it then leads where it leads, mostly to a 404. */
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

/** The methods of a path, as `Allow` names them; HEAD comes with GET. */
export const allowed = (answered: readonly string[]): string =>
  answered.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');

/**
 * Answers every other method at a path by a 405 that names those which it has, before a body is read.
 * @param answered the methods that have routes.
 */
export function refuseOtherMethods(server: Server, url: string, answered: readonly string[]): void {
  const list = allowed(answered);
  const refuse = async (): Promise<never> => {
    throw new ApiError('method_not_allowed', `This path answers ${list}.`, { headers: { Allow: list } });
  };
  server.route({
    method: server.supportedMethods.filter((method) => !list.split(', ').includes(method)),
    url,
    onRequest: refuse,
    handler: refuse,
  });
}

/** Answers what is not HTTP, or too slow or too large in its head, before any route is known; then hangs up. */
function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket & { readonly ['_httpMessage']?: ServerResponse },
  more: Readonly<Record<string, string>> = {},
): void {
  // Behind an answer that has begun, these bytes would be read as its end.
  if (error.code === 'ECONNRESET' || !socket.writable || socket['_httpMessage']?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message, code } = brokenRequests[error.code ?? ''] ?? brokenRequest;
  const body = JSON.stringify({ error: code, message } satisfies {
    error: ErrorCode;
    message: string;
  });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${jsonType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${linesOf({ ...bareHeaders, ...more })}Connection: close\r\n\r\n${body}`,
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
    message: `The address and headers are larger than ${maxHeaderSize} bytes.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request came too slowly.',
    code: 'bad_request',
  },
};

declare const meaning: unique symbol;
/** JSON text that stands for a T: what PostgreSQL or a writer by hand made, passed on unparsed. */
export type JsonText<T> = string & { readonly [meaning]: T };

/** Says what a JSON text stands for. Its writer is believed here, and held to it in tests (hold-reply.ts). */
export const jsonText = <T>(text: string): JsonText<T> => text as JsonText<T>;

/** A list as JSON, whose items are text already: they go out one by one, as all of them may be too long for one turn. */
export type JsonList<T> = {
  readonly items: readonly string[];
  /** What stands behind `"data":[…]`. */
  readonly ends: string;
  readonly [meaning]?: T;
};

/** Says what a list of JSON texts stands for. */
export const jsonList = <List extends { data: unknown[] }>(
  items: readonly JsonText<List['data'][number]>[],
  ends: Omit<List, 'data'>,
): JsonList<List> => ({ items, ends: JSON.stringify({ data: 0, ...ends }).slice(9) });

/** What an operation answers, as JSON text; undefined where it answers none. */
export function textOf({
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

/** The text of a list in parts. */
export function* partsOf({ items, ends }: JsonList<unknown>): Generator<string> {
  let before = beginning;
  for (const item of items) {
    yield before + item;
    before = ',';
  }
  yield `${items.length === 0 ? beginning : ''}]${ends}`;
}

/** What a T is once it was written as JSON: moments are text. */
type Wired<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wired<Item>[]
    : T extends object
      ? { [K in keyof T]: Wired<T[K]> }
      : T;

/** To the compiler what JSON.stringify will make of a value; at run time the value itself. */
export const wired = <T>(value: T): Wired<T> => value as Wired<T>;

/** What is wrong with a value; nothing of a good one. */
type Check = (sent: unknown) => string[];
type Held = { body?: unknown; json?: string | JsonList<unknown>; stream?: unknown };
type Shape = { readonly status: number; readonly schema?: TSchema; readonly content?: readonly string[] };

/**
 * Compiles what holds an operation's answers against its declared reply: of JSON every field, those that it has too many
 * as well. It costs a multiple of the request: tests switch it on (CHECK_REPLIES).
 */
export function compileReply(shape: Shape): (answer: Held) => void {
  let check: Check | undefined;
  return ({ stream, ...answer }) => {
    const text = textOf(answer);
    if (
      (text === undefined) !== (shape.schema === undefined) ||
      (stream === undefined) !== (shape.content === undefined)
    )
      throw new Error('The answer has not the kind of content that is declared.');
    if (text === undefined) return;
    // As it goes to the wire: dates are text, and what is undefined is not there.
    const sent = JSON.parse(text) as unknown;
    check ??= checkOf(closed(shape.schema) as TSchema);
    const found = check(sent);
    if (found.length > 0) throw new Error(`The answer is not as declared: ${found.slice(0, 5).join('; ')}.`);
  };
}

/** A function, as to compare the library's types of two schemas takes the compiler a second. */
function checkOf(schema: TSchema): Check {
  const compiled = Compile(schema);
  return (sent) => {
    if (compiled.Check(sent)) return [];
    const [, errors] = compiled.Errors(sent);
    return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  };
}

/** The same schema, in which an object that does not say otherwise has no more than its properties. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen =
    !('properties' in schema) || 'additionalProperties' in schema || 'patternProperties' in schema;
  return isOpen ? copy : { ...copy, additionalProperties: false };
}
