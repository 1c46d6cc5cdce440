import type { TObject } from 'typebox';
import { errorCodes } from '#kit/errors.ts';
import type { ReplyShape } from '#kit/operation.ts';
import type { Permission } from '#rules/permissions.ts';
import type { ApiRoute } from '../operations.ts';
import { exampleOf } from './example-of.ts';
import { always, type HeaderName, referToHeaders, referToResponse } from './responses.ts';
import type { Schemas } from './schemas.ts';
import type { Content, Operation, Parameter, Response } from './types.ts';

/** What an operation is about: the first part of its permission. */
export type Resource = Permission extends `${infer Name}:${string}` ? Name : never;

/** Whether a path has something that is read and changed: its readings carry the ETag that its changes ask for. */
type IsTagged = (path: string) => boolean;

/** An operation, from the very schemas that check its requests and its answers. */
export function writeOperation(route: ApiRoute, schemas: Schemas, isTagged: IsTagged): Operation {
  const { name, method, path, operation } = route;
  const isRead = method === 'GET' && isTagged(path);
  return {
    operationId: name,
    summary: operation.summary,
    ...(operation.deprecated && { deprecated: true as const }),
    description: [
      operation.description,
      operation.deprecated &&
        `Not for new work since ${operation.deprecated.since}; from ${operation.deprecated.until} on there is none.`,
      `Needs the permission \`${operation.permission}\`.`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    tags: [operation.permission.split(':')[0]!],
    // Linters know scopes of OAuth alone, so what a key needs stands beside it.
    security: [{ apiKey: [] }],
    'x-permission': operation.permission,
    parameters: [
      ...writeParameters(operation.params, 'path', schemas),
      ...writeParameters(operation.query, 'query', schemas, operation.example.query),
      ...(method === 'POST' ? [idempotencyKey] : []),
      ...(operation.isConditional ? [ifMatch] : []),
      ...(isRead ? [ifNoneMatch] : []),
    ],
    ...(operation.body && {
      requestBody: {
        required: !operation.isBodyOptional,
        content: json(schemas.write(operation.body), operation.example.body),
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

function writeReply(reply: ReplyShape, schemas: Schemas, more: readonly HeaderName[]): Response {
  const { description, schema, content } = reply;
  return {
    description,
    headers: referToHeaders([...always, ...more]),
    ...(schema && { content: json(schemas.write(schema), exampleOf(schema)) }),
    ...(content && {
      content: Object.fromEntries(content.map((type) => [type, { schema: { type: 'string' } }])),
    }),
  };
}

/** Which errors an operation can answer with follows from its shape. */
function failures(method: string, operation: ApiRoute['operation']): number[] {
  const { params, query, body } = operation;
  const isOfOne = Object.keys(params.properties).length > 0 || [query, body].some(namesForm);
  return [
    // What is not understood is refused, also where nothing is asked for.
    400,
    // The parser refuses it before any route.
    431,
    401,
    403,
    ...(isOfOne ? [404] : []),
    405,
    // Under an Idempotency-Key: while the first request runs.
    ...(method === 'POST' ? [409] : []),
    ...(operation.isConditional ? [412] : []),
    // A body is read by the same rules also where none is asked for.
    ...(method === 'GET' ? [] : [413, 415, 422]),
    429,
    500,
    503,
    ...operation.errors.map((code) => errorCodes[code].status),
  ];
}

/** Whether what is sent names a form, which may be none, or out of reach. */
export const namesForm = (schema: TObject | undefined): boolean => 'form_id' in (schema?.properties ?? {});

export const json = (schema: object, example?: unknown): Content => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});

/** A file as it is. */
const file = { type: 'string', format: 'binary' };

const header = (name: string, description: string, schema: object = { type: 'string' }): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

export const idempotencyKey = header(
  'Idempotency-Key',
  'A text of your own for this request: sent again within 24 hours under the same one, it takes effect once and is answered alike.',
  { type: 'string', pattern: '^[!-~]{1,255}$' },
);
const ifMatch = header(
  'If-Match',
  'The `ETag` of what you read: when it was changed since, nothing is done and the answer is 412.',
);
const ifNoneMatch = header(
  'If-None-Match',
  'The `ETag` that you have: when it still holds, the answer is 304.',
);

/** A time in a query may be a day too, which no format of JSON Schema says. */
const withDays = ({ format, ...rest }: { format?: unknown }): object =>
  format === 'date-time' || format === 'date'
    ? { ...rest, examples: ['2026-01-31', '2026-01-31T14:30:00Z'] }
    : { ...rest, ...(format !== undefined && { format }) };

function writeParameters(
  schema: TObject,
  place: 'path' | 'query',
  schemas: Schemas,
  examples: unknown = {},
): Parameter[] {
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
