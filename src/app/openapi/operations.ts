import { createHash } from 'node:crypto';
import type { TObject } from 'typebox';
import { exampleStructure } from '#forms/shapes.ts';
import { errorCodes } from '#kit/errors.ts';
import type { ReplyShape } from '#kit/operation.ts';
import type { Permission } from '#rules/permissions.ts';
import type { ApiRoute } from '../operations/operations.ts';
import exampleTexts from './example-texts.json' with { type: 'json' };
import {
  commonHeaders,
  type HeaderName,
  type OpenApiContent,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiResponse,
  referToHeaders,
  referToResponse,
  type SchemaRegistry,
} from './schemas.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Examples for parts of the form language, and for objects whose keys are not fixed. */
const ofComponents: Readonly<Record<string, unknown>> = {
  Structure: exampleStructure,
  Settings: { access: 'public' },
  Answers: { message: 'Do you open on Sundays?' },
  SettingsChange: { access: 'public' },
  Condition: { element: 'message', is: 'answered' },
};

/** Example texts, by the name of the property. */
const words: Readonly<Record<string, string>> = exampleTexts;

const numbers: Readonly<Record<string, number>> = {
  per_page: 25,
  size: 48_213,
  response_status: 200,
  response_ms: 84,
};

/** Nullable properties whose example is null. */
const nullExampleNames =
  /error$|^(expires_at|revoked_at|paused_at|paused_by|failing_since|next_attempt_at|trashed_at)$/;
const isNullable = (choices: readonly unknown[]): boolean =>
  choices.some((choice) => (choice as Schema)['type'] === 'null');

const key = 'message';
const uuidOf = (name: string): string =>
  `0199a3c0-5b1e-7c44-9d2f-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;

/**
 * Returns an example response for a schema: deterministic, with all required properties. Texts, numbers and
 * ids fit the name of their property.
 */
const exampleOf = (schema: object): unknown => exampleAs(schema as Schema, 'id');

function exampleAs(schema: Schema, name: string): unknown {
  const component = schema['x-component'];
  if (typeof component === 'string' && Object.hasOwn(ofComponents, component)) return ofComponents[component];
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices))
    return nullExampleNames.test(name) && isNullable(choices) ? null : exampleAs(choices[0] as Schema, name);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  switch (schema['type']) {
    case 'object':
      return name === 'reference' ? { campaign: 'spring' } : exampleOfObject(schema);
    case 'array':
      return [exampleAs(schema['items'] as Schema, name.replace(/s$/, ''))];
    case 'integer':
    case 'number':
      return numbers[name] ?? schema['minimum'] ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleOfText(schema['format'], name);
  }
}

function exampleOfObject(schema: Schema): object {
  const {
    properties = {},
    patternProperties = {},
    required = [],
  } = schema as {
    properties?: Readonly<Record<string, Schema>>;
    patternProperties?: Readonly<Record<string, Schema>>;
    required?: readonly string[];
  };
  const [entry] = Object.values(patternProperties);
  return Object.fromEntries([
    ...required.map((name) => [name, exampleAs(properties[name]!, name)] as const),
    ...(entry ? [[key, exampleAs(entry, key)] as const] : []),
  ]);
}

function exampleOfText(format: unknown, name: string): string {
  if (format === 'uuid') return uuidOf(name);
  if (format === 'date-time') return '2026-01-31T09:30:00.000Z';
  if (format === 'date') return '2026-01-31';
  if (format === 'uri' || /(^|_)(url|link|origin|site)$/.test(name)) return 'https://forms.example.com/f';
  return words[name] ?? (/(^|_)(by|from|author)$/.test(name) ? 'Ada Lovelace' : 'text');
}

/** The resource of an operation: the first part of its permission. */
export type OperationResource = Permission extends `${infer Name}:${string}` ? Name : never;

/** Whether a path can be both read and changed: reading it returns the ETag that its changes require. */
type IsTagged = (path: string) => boolean;

/** Writes an operation from the schemas that check its requests and responses. */
export function writeOperation(
  route: ApiRoute,
  schemas: SchemaRegistry,
  isTagged: IsTagged,
): OpenApiOperation {
  const { name, method, path, operation } = route;
  const isRead = method === 'GET' && isTagged(path);
  return {
    operationId: name,
    summary: operation.summary,
    description: [operation.description, `Requires the permission \`${operation.permission}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    tags: [operation.permission.split(':')[0]!],
    // Linters only know OAuth scopes, so the permission of an API key is a separate property.
    security: [{ apiKey: [] }],
    'x-permission': operation.permission,
    parameters: [
      ...writeParameters(operation.params, 'path', schemas),
      ...writeParameters(operation.query, 'query', schemas, operation.example.query),
      ...(method === 'POST' ? [idempotencyKeyParameter] : []),
      ...(operation.isConditional ? [ifMatch] : []),
      ...(isRead ? [ifNoneMatch] : []),
    ],
    ...(operation.body && {
      requestBody: {
        required: !operation.isBodyOptional,
        content: jsonContent(schemas.write(operation.body), operation.example.body),
      },
    }),
    ...(operation.bodyContent && {
      requestBody: {
        required: true,
        content: Object.fromEntries(operation.bodyContent.map((type) => [type, { schema: file }])),
      },
    }),
    responses: {
      [operation.reply.status]: writeReply(operation.reply, schemas, [
        ...(isRead || (operation.isConditional && operation.reply.status === 200) ? (['ETag'] as const) : []),
        ...(method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
      ]),
      ...Object.fromEntries(
        [...(isRead ? [304] : []), ...failures(method, operation)].map((status) => [
          status,
          referToResponse(status),
        ]),
      ),
    },
  };
}

function writeReply(
  reply: ReplyShape,
  schemas: SchemaRegistry,
  more: readonly HeaderName[],
): OpenApiResponse {
  const { description, schema, content } = reply;
  return {
    description,
    headers: referToHeaders([...commonHeaders, ...more]),
    ...(schema && { content: jsonContent(schemas.write(schema), exampleOf(schema)) }),
    ...(content && {
      content: Object.fromEntries(content.map((type) => [type, { schema: { type: 'string' } }])),
    }),
  };
}

/** Returns the error statuses of an operation, which follow from its shape. */
function failures(method: string, operation: ApiRoute['operation']): number[] {
  const { params, query, body } = operation;
  const isOfOne = Object.keys(params.properties).length > 0 || [query, body].some(hasFormId);
  return [
    // Unknown input is refused, even by operations that accept no input.
    400,
    // Headers that are too large are refused by the parser, before any route.
    431,
    401,
    403,
    ...(isOfOne ? [404] : []),
    405,
    // With an Idempotency-Key, while the first request is running.
    ...(method === 'POST' ? [409] : []),
    ...(operation.isConditional ? [412] : []),
    // These rules for bodies apply even to operations without a body.
    ...(method === 'GET' ? [] : [413, 415, 422]),
    429,
    500,
    503,
    ...operation.errors.map((code) => errorCodes[code].status),
  ];
}

/** Whether a request contains the id of a form, which may be missing or not accessible. */
export const hasFormId = (schema: TObject | undefined): boolean => 'form_id' in (schema?.properties ?? {});

export const jsonContent = (schema: object, example?: unknown): OpenApiContent => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});

/** A file as raw bytes. */
const file = { type: 'string', format: 'binary' };

const header = (
  name: string,
  description: string,
  schema: object = { type: 'string' },
): OpenApiParameter => ({ name, in: 'header', required: false, description, schema });

export const idempotencyKeyParameter = header(
  'Idempotency-Key',
  'A unique string for this request. If the request is sent again with this key within 24 hours, it takes effect only once and gets the first response.',
  { type: 'string', pattern: '^[!-~]{1,255}$' },
);
const ifMatch = header(
  'If-Match',
  'The `ETag` that you read. If the resource has changed since, nothing is done and the response is 412.',
);
const ifNoneMatch = header(
  'If-None-Match',
  'The `ETag` that you have. If it is still current, the response is 304.',
);

/** A time in a query may also be a date. JSON Schema has no format that allows both. */
const withDays = ({ format, ...rest }: { format?: unknown }): object =>
  format === 'date-time' || format === 'date'
    ? { ...rest, examples: ['2026-01-31', '2026-01-31T14:30:00Z'] }
    : { ...rest, ...(format !== undefined && { format }) };

function writeParameters(
  schema: TObject,
  place: 'path' | 'query',
  schemas: SchemaRegistry,
  examples: unknown = {},
): OpenApiParameter[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, default: preset, ...rest } = property as { description?: string; default?: unknown };
    const example = (examples as Readonly<Record<string, unknown>>)[name];
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description !== undefined && { description }),
      schema: {
        ...schemas.write(place === 'query' ? withDays(rest) : rest),
        ...(preset !== undefined && { default: preset }),
      },
      ...(example !== undefined && { example }),
    };
  });
}
