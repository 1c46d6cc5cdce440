import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { uuidPattern } from './clock.ts';
import { ApiError } from './errors.ts';
import { jsonBodyLimit, readJsonBody, readLargeJsonBody } from './json-body.ts';

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

export type Server = FastifyInstance;

export const jsonType = 'application/json; charset=utf-8';
/** The default browser restrictions: a response loads nothing, cannot be framed, and keeps its type. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

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

/** Returns a file name that is valid on every system. */
export const fileNameOf = (name: string, ending: string): string =>
  `${name
    .slice(0, 80)
    .replaceAll(/[\\/:]/g, '-')
    .toWellFormed()}${ending}`;

/** Returns the header that makes browsers save a response under a file name. */
export const attachmentHeader = (name: string, ending: string): { 'Content-Disposition': string } => ({
  'Content-Disposition': contentDisposition(fileNameOf(name, ending)),
});
