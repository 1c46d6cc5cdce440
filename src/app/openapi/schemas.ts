import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { problemCodes } from '#ast/basics/problems.ts';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { namedObject, nameSchema } from '#kit/pagination.ts';

type Schema = Readonly<Record<string, unknown>>;

/** How a keyword contains subschemas: in a record by name, in a list, or a single one. */
const parts: Readonly<Record<string, 'record' | 'list' | 'one'>> = {
  properties: 'record',
  $defs: 'record',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  prefixItems: 'list',
  items: 'one',
  additionalProperties: 'one',
  not: 'one',
};

/** Keywords that only describe a schema. */
const annotations = new Set(['title', 'description', 'x-component']);

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schemas of the document. Named schemas are components, to which all others refer. */
export type SchemaRegistry = {
  /** Returns a schema as it appears in the document. */
  write(schema: object): Schema;
  /** Returns the components that were written so far, by name. */
  components(): Record<string, object>;
};

/**
 * Starts with the known components, and adds each schema that has a component name (kit/pagination.ts).
 * @throws Error for two schemas with the same name, and for an unknown name.
 */
export function createSchemaRegistry(known: Readonly<Record<string, object>>): SchemaRegistry {
  const components = new Map<string, object>();

  function write(schema: object): Schema {
    // Converted to JSON, without the extra properties that the library adds.
    return walk(JSON.parse(JSON.stringify(schema)) as Schema);
  }

  function walk(schema: Schema): Schema {
    const name = schema['x-component'];
    if (typeof name !== 'string') return plain(schema);
    const isReference = Object.keys(schema).every((key) => annotations.has(key));
    if (!isReference) return add(name, schema);
    if (!Object.hasOwn(known, name)) throw new Error(`There is no schema named ${name}.`);
    const { description } = schema;
    return { ...referTo(name), ...(description !== undefined && { description }) };
  }

  function add(name: string, schema: Schema): Schema {
    const { 'x-component': _, ...rest } = schema;
    const written = plain(rest);
    const before = components.get(name) ?? known[name];
    if (before && !isDeepStrictEqual(before, written)) throw new Error(`Two schemas are named ${name}.`);
    components.set(name, written);
    return referTo(name);
  }

  function plain(schema: Schema): Schema {
    const { default: preset, patternProperties, ...rest } = simplifySchema(schema);
    const entries = Object.entries({ ...rest, ...open(patternProperties) }).map(([key, value]) => [
      key,
      writePart(parts[key], value),
    ]);
    return { ...(Object.fromEntries(entries) as Schema), ...describe(rest['description'], preset) };
  }

  function writePart(kind: (typeof parts)[string] | undefined, value: unknown): unknown {
    if (kind === 'list') return (value as Schema[]).map(walk);
    if (kind === 'one') return isSchema(value) ? walk(value) : value;
    if (kind === 'record')
      return Object.fromEntries(
        Object.entries(value as Schema).map(([key, part]) => [key, walk(part as Schema)]),
      );
    return value;
  }

  return {
    write,
    components: () => ({
      ...Object.fromEntries(Object.entries(known).map(([name, schema]) => [name, write(schema)])),
      ...Object.fromEntries(components),
    }),
  };
}

const referTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/** Writes a record with arbitrary keys in the form that code generators understand. */
const open = (patterns: unknown): Schema =>
  isSchema(patterns) ? { additionalProperties: Object.values(patterns)[0] } : {};

/**
 * Writes a default into the description. The keyword `default` would tell generators that a value is always
 * present, although a request may omit it.
 */
function describe(description: unknown, preset: unknown): Schema {
  if (preset === undefined) return {};
  const assumed = `Default: ${typeof preset === 'string' ? preset : JSON.stringify(preset)}.`;
  return { description: typeof description === 'string' ? `${description} ${assumed}` : assumed };
}

/** Adds the type of an enum, and merges a type with null, as in handwritten schemas. */
function simplifySchema(schema: Schema): Schema {
  const [choice, none, ...more] = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Schema[]) : [];
  const isNullable = choice && more.length === 0 && isDeepStrictEqual(none, { type: 'null' });
  if (isNullable && !('x-component' in choice)) {
    const { anyOf: _, ...rest } = schema;
    const { enum: words, type } = simplifySchema(choice);
    if (Array.isArray(words))
      return {
        ...simplifySchema(choice),
        type: ['string', 'null'],
        enum: [...(words as unknown[]), null],
        ...rest,
      };
    if (typeof type === 'string') return { ...choice, type: [type, 'null'], ...rest };
  }
  const { enum: words, const: only } = schema;
  // Some generators treat a `const` without a type as unknown.
  if (only !== undefined && schema['type'] === undefined) return { type: typeof only, ...schema };
  const isOfWords = Array.isArray(words) && words.every((word) => typeof word === 'string');
  return isOfWords && schema['type'] === undefined ? { type: 'string', ...schema } : schema;
}

/** The parts of an OpenAPI 3.1 document that Formloom writes. */
export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: object; contact: object };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  webhooks: Record<
    string,
    { post: Omit<OpenApiOperation, 'parameters'> & { parameters: OpenApiParameter[] } }
  >;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, OpenApiResponse>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
  security: object[];
  externalDocs: { url: string; description: string };
};

export type OpenApiOperation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, string[]>[];
  /** Undefined for operations without an API key, and for webhooks. */
  'x-permission'?: string;
  parameters: OpenApiParameter[];
  requestBody?: { required: boolean; content: OpenApiContent };
  responses: Record<string, OpenApiResponse | Reference>;
  /** Overrides the servers of the document. */
  servers?: { url: string }[];
};

export type OpenApiParameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: object;
  example?: unknown;
};

type Reference = { $ref: string };
type Header = { description: string; required: boolean; schema: object };
export type OpenApiContent = Record<string, { schema: object; example?: unknown }>;
export type OpenApiResponse = {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: OpenApiContent;
};

const ErrorItem = namedObject('ErrorItem', {
  message: Type.String({ description: 'A human-readable description of the problem.' }),
  code: Type.Enum(Object.keys(problemCodes), {
    description: `A machine-readable code for the problem. ${Object.entries(problemCodes)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')}`,
  }),
  field: Type.Optional(Type.String({ description: 'The property, question or setting with the problem.' })),
  path: Type.Optional(
    Type.Array(Type.Integer(), {
      description:
        'The position in the structure of the form: `[step, element, child]`, counted from 0. Empty for the form itself.',
    }),
  ),
});

/** The body of every error response (specification, "Errors"). */
export const ErrorSchema = nameSchema(
  'Error',
  Type.Object(
    {
      error: Type.Enum(Object.keys(errorCodes), {
        description: 'A machine-readable code for the kind of error.',
      }),
      message: Type.String({ description: 'A human-readable description of the error.' }),
      errors: Type.Optional(Type.Array(ErrorItem, { description: 'All problems with the data.' })),
      retry_after: Type.Optional(Type.Integer({ description: 'Seconds to wait before retrying.' })),
    },
    { description: 'The body of every error response.' },
  ),
);

const header = (type: 'string' | 'integer', description: string, required = true): Header => ({
  description,
  required,
  schema: { type },
});

/** The response headers that the document describes. */
export const responseHeaders = {
  'X-Request-Id': header('string', "The id of the request, which also appears in the service's log."),
  'X-RateLimit-Limit': header('integer', 'Requests per minute.'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the current window.'),
  'X-RateLimit-Reset': header('integer', 'Unix time, in seconds, at which the limit resets.'),
  'Retry-After': header('integer', 'Seconds to wait before retrying.'),
  'WWW-Authenticate': header('string', 'The authentication scheme: `Bearer`.'),
  Allow: header('string', 'The methods that the path supports.'),
  ETag: header('string', 'The current version of the resource, for `If-Match` and `If-None-Match`.'),
  'Idempotency-Replayed': header(
    'string',
    '`true` if this is the stored response to an earlier request with this `Idempotency-Key`.',
    false,
  ),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof responseHeaders;

/** The headers of every API response. */
export const commonHeaders = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly HeaderName[];

export const referToHeaders = (names: readonly HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers and examples that only some errors have. */
const more: Readonly<Partial<Record<ErrorCode, { headers?: readonly HeaderName[]; example?: object }>>> = {
  unauthorized: { headers: ['WWW-Authenticate'] },
  method_not_allowed: { headers: ['Allow'] },
  rate_limit_exceeded: { headers: ['Retry-After'], example: { retry_after: 12 } },
  service_unavailable: { headers: ['Retry-After'], example: { retry_after: 1 } },
  validation_error: {
    example: {
      errors: [{ field: 'email', message: '"email" must be an email address.', code: 'invalid_format' }],
    },
  },
};

/** Returns an error response with these headers and those of its code. */
export function errorResponse(code: ErrorCode, common: readonly HeaderName[]): OpenApiResponse {
  const { message } = errorCodes[code];
  return {
    description: message,
    headers: referToHeaders([...common, ...(more[code]?.headers ?? [])]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { error: code, message, ...more[code]?.example },
      },
    },
  };
}

/** Returns the component of an error code: `not_found` is NotFound. */
const componentOf = (code: ErrorCode): string =>
  code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** The first error code for each status, in the order of the table. */
const byStatus = new Map(
  (Object.keys(errorCodes) as ErrorCode[])
    .toReversed()
    .map((code) => [errorCodes[code].status as number, code]),
);

/** The response if the caller already has the current version. */
const notModified = {
  description: 'Not modified since you last read it.',
  headers: referToHeaders([...commonHeaders, 'ETag']),
};

/** The responses that operations share. */
export const sharedResponses: Readonly<Record<string, OpenApiResponse>> = {
  ...Object.fromEntries(
    [...byStatus.values()].map((code) => [componentOf(code), errorResponse(code, commonHeaders)]),
  ),
  NotModified: notModified,
};

/** Returns a reference to the shared response of a status. */
export const referToResponse = (status: number): Reference => ({
  $ref: `#/components/responses/${status === 304 ? 'NotModified' : componentOf(byStatus.get(status)!)}`,
});
