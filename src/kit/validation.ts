import type { FastifyError, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { Format } from 'typebox/format';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import type { ProblemCode } from '#ast/basics/problems.ts';
import { TooMuchWork } from '#ast/basics/work.ts';
import { normalizeJson } from '#ast/form/normalize-json.ts';
import { toUtcTimestamp } from '#ast/rules/moments.ts';
import { isDiskFull, isUnavailableError } from './database.ts';
import { ApiError, type ErrorCode, type ErrorItem, toLoggedError } from './errors.ts';
import { jsonBodyLimit } from './json-body.ts';

// The library also accepts times that Date or PostgreSQL does not: a leap second (23:59:60), the year 0.
Format.Set('date-time', (text) => toUtcTimestamp(text) !== undefined);
// With the default of eight, eight unknown names would hide all other errors.
Settings.Set({ maxErrors: 1_000 });

/**
 * Validates a request against a TypeBox schema. Unknown properties are an error, so that no input is silently
 * ignored (docs/rules.md 20).
 */
type Check<T> = (value: unknown) => { ok: true; value: T } | { ok: false; errors: ErrorItem[] };

type SchemaError = {
  keyword: string;
  /** The path of the failed schema in the whole schema: `#/properties/inner`. */
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
};

/** Compiles a schema into a check, once per route. */
export function compileCheck<S extends TObject>(schema: S): Check<Static<S>> {
  const compiled = Compile(schema);
  return (value) =>
    compiled.Check(value)
      ? { ok: true, value }
      : { ok: false, errors: describeErrors(schema, compiled.Errors(shortened(schema, value))[1]) };
}

/** The maximum number of unknown names that are reported per object. */
const mostUnknown = 100;

type Sized = {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Sized>>;
  readonly maxProperties?: number;
  readonly items?: Sized;
  readonly maxItems?: number;
  readonly anyOf?: readonly Sized[];
};

/**
 * Shortens a value to what its error messages need: lists that are too long keep one item above their limit,
 * and objects keep a limited number of unknown names. The library reports every item, and its search for
 * equal items takes quadratic time.
 */
function shortened(schema: Sized, value: unknown): unknown {
  const { anyOf, items, maxItems = Infinity, properties = {}, maxProperties = Infinity } = schema;
  if (anyOf) {
    const type = Array.isArray(value) ? 'array' : isRecord(value) && 'object';
    return shortened(anyOf.find((each) => each.type === type) ?? {}, value);
  }
  if (Array.isArray(value)) {
    const few = value.length > maxItems ? value.slice(0, maxItems + 1) : value;
    return items ? few.map((item) => shortened(items, item)) : few;
  }
  if (!isRecord(value) || (!schema.properties && maxProperties === Infinity)) return value;
  const most = maxProperties === Infinity ? mostUnknown : maxProperties + 1;
  let unknown = 0;
  const keys = Object.keys(value).filter((name) => Object.hasOwn(properties, name) || (unknown += 1) <= most);
  return Object.fromEntries(
    keys.map((name) => {
      const known = getProperty(properties, name);
      return [name, known ? shortened(known, value[name]) : value[name]];
    }),
  );
}

/**
 * Compiles a schema for JSON bodies. As in queries, a date in a time property means the start of that day in
 * UTC.
 * @throws ApiError bad_request if the body is not an object, validation_error with all its problems.
 */
export function compileBody<S extends TObject>(schema: S): (body: unknown) => Static<S> {
  const check = compileCheck(schema);
  const moments = Object.keys(schema.properties).filter((name) =>
    hasMoment(schema.properties[name] as Nullable),
  );
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new ApiError('bad_request', 'The body must be a JSON object.');
    const days = moments.flatMap((name) => {
      const value = getProperty(body as Readonly<Record<string, unknown>>, name);
      return typeof value === 'string' ? [[name, momentOf(value)] as const] : [];
    });
    const result = check(days.length > 0 ? { ...body, ...Object.fromEntries(days) } : body);
    if (!result.ok) throw new ApiError('validation_error', undefined, { errors: result.errors });
    return result.value;
  };
}

type Nullable = { readonly format?: unknown; readonly anyOf?: readonly Nullable[] };

/** Returns whether a property is a time, or null. */
const hasMoment = ({ format, anyOf = [] }: Nullable): boolean =>
  format === 'date-time' || anyOf.some(hasMoment);

/** Describes errors, one item per property. A union reports only its own error, not those of its branches. */
function describeErrors(schema: TObject, errors: readonly SchemaError[]): ErrorItem[] {
  const items = new Map<string, { message: string; code: ProblemCode }>();
  const add = (field: string, message: string, code: ProblemCode): void => {
    if (!items.has(field)) items.set(field, { message, code });
  };
  for (const error of errors) {
    const field = stepsOf(error.instancePath).join('.');
    if (error.keyword === 'required') {
      for (const name of names(error.params['requiredProperties']))
        add(join(field, name), `"${name}" is required.`, 'required');
    } else if (error.schemaPath.endsWith('/additionalProperties') && error.keyword === 'boolean') {
      // Each unknown property has an error. `additionalProperties` sums them up, so it is skipped.
      const known = knownAt(schema, error.schemaPath);
      const name = clip(stepsOf(error.instancePath).at(-1)!);
      const remedy =
        known.length > 0 ? `Known: ${known.join(', ')}.` : 'No fields are accepted here. Remove it.';
      add(field, `Unknown field "${name}". ${remedy}`, 'unknown_field');
    } else if (error.keyword !== 'additionalProperties' && error.keyword !== 'const') {
      add(field, describe(field, error), codeOf(error));
    }
  }
  return [...items].map(([field, item]) => ({ field: clip(field), ...item }));
}

/** Maps the keywords of JSON Schema to problem codes. */
const keywordCodes: Readonly<Record<string, ProblemCode>> = {
  type: 'invalid_type',
  anyOf: 'invalid_type',
  oneOf: 'invalid_type',
  enum: 'invalid_choice',
  format: 'invalid_format',
  pattern: 'invalid_format',
  maxLength: 'too_long',
  minLength: 'too_short',
  maximum: 'too_large',
  minimum: 'too_small',
  exclusiveMinimum: 'too_small',
  maxItems: 'too_many',
  maxProperties: 'too_many',
  minItems: 'too_few',
  minProperties: 'too_few',
  uniqueItems: 'duplicate',
};

const codeOf = ({ keyword }: SchemaError): ProblemCode => keywordCodes[keyword] ?? 'invalid';

/** Splits a JSON pointer (RFC 6901) into its steps. */
const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the property names of the schema whose `additionalProperties` failed. */
function knownAt(schema: TObject, schemaPath: string): string[] {
  let place: unknown = schema;
  for (const step of stepsOf(schemaPath).slice(0, -1))
    place = (place as Readonly<Record<string, unknown>>)[step];
  return Object.keys((place as Partial<TObject>).properties ?? {});
}

const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const join = (parent: string, name: string): string => (parent === '' ? name : `${parent}.${name}`);
/** Shortens text from the caller for use in an error message. */
const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

function describe(field: string, { keyword, params, message }: SchemaError): string {
  const subject = field === '' ? 'The body' : `"${clip(field)}"`;
  const allowed = names(params['allowedValues']);
  if (keyword === 'enum' && allowed.length > 0) return `${subject} must be one of ${allowed.join(', ')}.`;
  if (/^min(Length|Items|Properties)$/.test(keyword) && params['limit'] === 1)
    return `${subject} must not be empty.`;
  if (keyword === 'type') return `${subject} must be ${article(String(params['type']))}.`;
  if (keyword === 'format' && params['format'] === 'uuid') return `${subject} must be a UUID.`;
  if (keyword === 'format' && params['format'] === 'date-time')
    return `${subject} must be a date or a timestamp, such as 2030-01-31T09:00:00Z.`;
  return `${subject} ${message}.`;
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

/**
 * Compiles a schema for query parameters. Strings become integers and booleans where the schema requires
 * them, and an empty string counts as absent. Only plain digits are numbers: "1e3", "0x10" and " 1" are
 * rejected. Repeated parameters are rejected, and so is NUL, which PostgreSQL does not support.
 * @throws ApiError bad_request.
 */
export function compileQuery<S extends TObject>(schema: S): (query: unknown) => Static<S> {
  const check = compileCheck(schema);
  const readers = new Map(
    Object.entries(schema.properties).map(([name, property]) => [name, readerOf(property)] as const),
  );
  return (query) => {
    const given = Object.entries(normalizeJson(query) as Record<string, unknown>);
    const unclean = given.find(([, value]) => typeof value === 'string' && value.includes('\0'));
    if (unclean) {
      const field = clip(unclean[0]);
      const message = `"${field}" must not contain a NUL character.`;
      throw new ApiError('bad_request', message, { errors: [{ field, message, code: 'not_storable' }] });
    }
    const read = given.flatMap(([name, value]): [string, unknown][] => {
      const reader = readers.get(name);
      // Some clients send empty parameters for absent ones. An empty cursor starts a list by cursor.
      if (value === '' && readers.has(name)) return name === 'cursor' ? [[name, listStartCursor]] : [];
      return [[name, reader?.(value) ?? value]];
    });
    const result = check(Object.fromEntries(read));
    if (result.ok) return result.value;
    throw new ApiError('bad_request', result.errors[0]!.message, { errors: result.errors });
  };
}

/** The `cursor` that starts reading a list. */
export const listStartCursor = '*';

/** Converts a date to the start of that day in UTC, and leaves other text unchanged. */
const momentOf = (text: string): string => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00.000Z` : text);

/** Returns the converter of a parameter's text for its schema; undefined if the text stays as it is. */
function readerOf(property: { type?: unknown; format?: unknown }): ((value: unknown) => unknown) | undefined {
  if (property.type === 'integer')
    return (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value);
  if (property.type === 'boolean')
    return (value) => (value === 'true' ? true : value === 'false' ? false : value);
  // An unescaped plus sign arrives as a space.
  if (property.format === 'date-time')
    return (value) => (typeof value === 'string' ? momentOf(value.replace(/ (?=\d\d:\d\d$)/, '+')) : value);
  // Where a date is expected, a time means its date in UTC.
  if (property.format === 'date')
    return (value) => (typeof value === 'string' ? (toUtcTimestamp(value)?.slice(0, 10) ?? value) : value);
  return undefined;
}

/** Maps Fastify's client errors to our codes. */
const frameworkCodes: Readonly<Record<string, [ErrorCode, string?]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as Content-Type: application/json.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `The body is larger than ${jsonBodyLimit} bytes.`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'bad_request',
    'The length of the body does not match Content-Length.',
  ],
};

const foreignKeyViolation = '23503';
/** SQLSTATE class of rejected sign-ins to PostgreSQL: a role without access, a wrong password. */
const lockedOut = /^28/;

/** Returns the response for an error that ended a request, and logs server errors. */
export function resolveRequestError(error: unknown, request: FastifyRequest): ApiError {
  // A client that disconnects within a body causes the same code as a database that does.
  if (error === request.raw.errored)
    return new ApiError('bad_request', 'The request ended before its body was complete.', { cause: error });
  const problem = toApiError(error);
  if (problem.status >= 500) logFailure(error, request);
  return problem;
}

/** While the database is unavailable, all requests fail for one reason, which is logged at this interval. */
const unavailableLogMs = 10_000;
let loggedUnavailableAt = Number.NEGATIVE_INFINITY;

function logFailure(error: unknown, { log }: FastifyRequest): void {
  if (isDiskFull(error)) return log.error({ err: error }, 'a request failed: the database disk is full');
  if (!isUnavailableError(error)) return log.error({ err: error }, 'a request failed');
  const isLogged = performance.now() - loggedUnavailableAt < unavailableLogMs;
  if (!isLogged) loggedUnavailableAt = performance.now();
  log[isLogged ? 'debug' : 'warn'](toLoggedError(error), 'requests fail: the database does not respond');
}

/** Converts any error to an ApiError. Internal errors become server_error, without their message. */
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
  if (isUnavailableError(error) || lockedOut.test(code ?? ''))
    return new ApiError('service_unavailable', undefined, { retryAfter: 1, cause: error });
  // The subject of the request was deleted during the request.
  if (code === foreignKeyViolation) return new ApiError('not_found', undefined, { cause: error });
  const known = code === undefined ? undefined : frameworkCodes[code];
  if (known) return new ApiError(known[0], known[1], { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiError('bad_request', undefined, { cause: error });
  return new ApiError('server_error', undefined, { cause: error });
}

export const uuidSchema = Type.String({ format: 'uuid' });
export const timestampSchema = Type.String({ format: 'date-time' });
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
/** The schema of `failed_reason` in background work. */
export const failedReasonSchema = Type.Union([Type.String(), Type.Null()], {
  description: 'Why the task stopped early and will not continue automatically; `null` otherwise.',
});
/** Returns an object schema that rejects additional properties. */
export const strictObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
