import { type TObject, Type } from 'typebox';
import { structureSchemas } from '#ast/schema.ts';
import { settingsSchema } from '#ast/settings-schema.ts';
import { errorCodes } from '#kit/errors.ts';
import { permissions } from '#workspaces/permissions.ts';
import type { ApiRoute } from './operations.ts';

/** An OpenAPI 3.1 document, as far as this page reads it. */
export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
  security: object[];
};
export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: JsonContent };
  responses: Record<string, object>;
};
export type Parameter = {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: object;
};
type JsonContent = { 'application/json': { schema: object } };

const ErrorSchema = Type.Object(
  {
    error: Type.Enum(Object.keys(errorCodes)),
    message: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          message: Type.String(),
          field: Type.Optional(Type.String()),
          path: Type.Optional(Type.Array(Type.Integer())),
        }),
      ),
    ),
    retry_after: Type.Optional(Type.Integer({ description: 'Seconds.' })),
  },
  { description: 'Every error answer. `errors` lists what is wrong with the data.' },
);

const rateHeaders = {
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current window.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Reset': { description: 'Unix second at which the limit resets.', schema: { type: 'integer' } },
};

/** Writes the document from the very schemas that check requests, so that it cannot say anything else. */
export function writeOpenApi(
  routes: readonly ApiRoute[],
  options: { publicUrl: string; version: string },
): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const template = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[template] ??= {})[route.method.toLowerCase()] = writeOperation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Formloom API',
      version: options.version,
      description:
        'Forms, their submissions, and search over them. Every request acts within the workspace of its API key.',
    },
    servers: [{ url: `${options.publicUrl}/api/v1` }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `Permissions: ${Object.keys(permissions).join(', ')}.`,
        },
      },
      schemas: { ...structureSchemas(), Settings: settingsSchema(), Error: ErrorSchema },
    },
    security: [{ apiKey: [] }],
  };
}

function writeOperation({ name, method, path, operation }: ApiRoute): Operation {
  const { status, description, schema, content } = operation.reply;
  const success = {
    description,
    headers: rateHeaders,
    ...(schema && { content: json(withReferences(schema)) }),
    ...(content !== undefined && { content: { [content]: { schema: {} } } }),
  };
  return {
    operationId: name,
    summary: operation.summary,
    description: [operation.description, `Needs the permission \`${operation.permission}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    tags: [path.split('/')[1]!],
    parameters: [...writeParameters(operation.params, 'path'), ...writeParameters(operation.query, 'query')],
    ...(operation.body && {
      requestBody: { required: !operation.isBodyOptional, content: json(withReferences(operation.body)) },
    }),
    responses: { [status]: success, ...Object.fromEntries(failures(method, operation)) },
  };
}

/** Which errors an operation can answer with follows from its shape. */
function failures(method: string, operation: ApiRoute['operation']): [string, object][] {
  const hasParameters =
    Object.keys({ ...operation.params.properties, ...operation.query.properties }).length > 0;
  const statuses = [
    ...(hasParameters || operation.body ? [400] : []),
    401,
    403,
    ...(Object.keys(operation.params.properties).length > 0 || 'form_id' in operation.query.properties
      ? [404]
      : []),
    // A body is read by the same rules also where none is asked for.
    ...(method === 'GET' ? [] : [413, 415, 422]),
    429,
    503,
    ...(operation.isConditional ? [412] : []),
    ...operation.errors.map((code) => errorCodes[code].status),
  ];
  return statuses.map((status) => {
    const description = Object.values(errorCodes).find((code) => code.status === status)!.message;
    return [
      String(status),
      { description, headers: rateHeaders, content: json({ $ref: '#/components/schemas/Error' }) },
    ];
  });
}

const json = (schema: object): JsonContent => ({ 'application/json': { schema } });

function writeParameters(schema: TObject, place: 'path' | 'query'): Parameter[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = property as { description?: string };
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description && { description }),
      schema: withReferences(rest),
    };
  });
}

/** The form structure is checked by its own walker (ast/validate.ts); in the document it is a named schema. */
function withReferences(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'x-component' in value
      ? { $ref: `#/components/schemas/${String(value['x-component'])}` }
      : value,
  ) as object;
}
