import type { OpenApi, OpenApiOperation } from '#app/openapi/schemas.ts';
import { commandNameOf, pathParameterNameOf } from '#app/operations/call-operation.ts';
import type { ApiRoute } from '#app/operations/operations.ts';
import type { JsonSchema } from '#ast/basics/json-schema.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { formatDocComment, formatTypeScriptType } from '#webhooks/payload.ts';

/* Writes src/api.ts of the client: the table that it runs on, and the types of all inputs and responses. */

/** The TypeScript type of an answer of each kind, for an element `E` of a definition. */
const answerTypes: Readonly<Record<AnswerKind, string>> = {
  text: 'string',
  moment: 'string',
  number: 'number',
  boolean: 'boolean',
  choice: 'OptionOf<E>',
  choices: 'OptionOf<E>[]',
  order: 'OptionOf<E>[]',
  grid: 'GridOf<E>',
  consent: '{ agreed: true; text: string; version: number; at: string }',
  files: 'FileUpload[]',
};

/** An operation of the document with its entry in the table. Operations of the public page have no route. */
type Entry = {
  /** The group and method, as on the command line: `forms`, `exportSubmissions`. */
  names: readonly [group: string, method: string];
  method: string;
  path: string;
  operation: OpenApiOperation;
  route: ApiRoute | undefined;
};

/** @param document the OpenAPI document that writeOpenApi makes from the routes. */
export function writeApi(routes: readonly ApiRoute[], document: OpenApi): string {
  const entries = entriesOf(routes, document);
  const groups = [...Map.groupBy(entries, ({ names: [group] }) => group)];
  const table = groups.map(([group, inside]) => {
    const rows = inside.map((entry) => `    ${entry.names[1]}: '${rowOf(entry, entries)}',\n`);
    return `  ${group}: {\n${rows.join('')}  },\n`;
  });
  const methods = groups.map(
    ([group, inside]) =>
      `  readonly ${group}: {\n${inside.map((entry) => methodOf(entry, entries)).join('')}  };\n`,
  );
  const answers = Object.entries(inputRules).map(([type, { kind }]) => `  ${type}: ${answerTypes[kind]};\n`);
  const schemas = Object.entries(document.components.schemas).map(([name, schema]: [string, JsonSchema]) => {
    return `${formatDocComment(schema.description, '')}export type ${name} = ${formatTypeScriptType(schema, '', '')};\n`;
  });
  return `// Made from the operations of the service by \`npm run client\`; kept nowhere.
import type { CallOptions, FileBody, Id, List } from './transport/call.ts';
import type { GridOf, OptionOf } from './define-form.ts';

/** Method, path and the marks that read-row.ts reads. */
export const table = {
${table.join('')}} as const;

/** Every operation of the API. */
export interface Api {
${methods.join('')}}

/** What the answer of an element is, by its type. */
export interface AnswerTypes<E> {
${answers.join('')}}

${schemas.join('\n')}`;
}

function entriesOf(routes: readonly ApiRoute[], document: OpenApi): Entry[] {
  const byName = new Map<string, ApiRoute>(routes.map((route) => [route.name, route]));
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => {
      const route = byName.get(operation.operationId);
      const [group, called] = (route ? commandNameOf(route) : pageName(operation)).split(' ');
      return {
        names: [camelCase(group!), camelCase(called!)],
        method: method.toUpperCase(),
        path: template.replaceAll(/\{(\w+)\}/g, ':$1'),
        operation,
        route,
      };
    }),
  );
}

/** Groups operations of the public page with the form operations: `submitForm` becomes `forms submit`. */
const pageName = ({ operationId }: OpenApiOperation): string => `forms ${operationId.replace(/Form$/, '')}`;

const camelCase = (text: string): string =>
  text.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

/**
 * Whether the resource at a path is both read and changed there, so that its ETag can be sent as If-Match.
 */
const isTagged = (entries: readonly Entry[], path: string): boolean =>
  entries.some((entry) => entry.path === path && entry.method === 'GET') &&
  entries.some((entry) => entry.path === path && entry.route?.operation.isConditional);

/**
 * Returns the path whose ETag an operation sends as If-Match: the declared one, else its own path or a parent
 * of it.
 */
function conditionPath({ path, route }: Entry, entries: readonly Entry[]): string | undefined {
  if (!route?.operation.isConditional) return undefined;
  if (route.operation.conditionOf !== undefined) return route.operation.conditionOf;
  const parts = path.split('/');
  const above = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  return above.find((each) => isTagged(entries, each));
}

/** Returns the path at which the resource that an operation returns can be changed. */
function replyPath(entry: Entry, entries: readonly Entry[]): string | undefined {
  const { path, method, route } = entry;
  if (isTagged(entries, path)) return path;
  if (method === 'POST' && isTagged(entries, `${path}/:id`)) return `${path}/:id`;
  const { schema } = route?.operation.reply ?? {};
  return schema && route?.operation.isConditional
    ? entries.find((each) => isTagged(entries, each.path) && each.route?.operation.reply.schema === schema)
        ?.path
    : undefined;
}

/** Returns a row of the client's table: method, path with its query names, and marks. */
function rowOf(entry: Entry, entries: readonly Entry[]): string {
  const { method, path, operation, route } = entry;
  const query = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  const isSorted = method !== 'GET' && method !== 'DELETE' && operation.requestBody && query.length > 0;
  const { bodyContent, reply } = route?.operation ?? {};
  const [condition, place] = [conditionPath(entry, entries), replyPath(entry, entries)];
  return [
    method,
    path + (isSorted && !bodyContent ? `?${query.join(',')}` : ''),
    !inputOf(entry) && 'bare',
    operation.servers && 'root',
    bodyContent && `file:${bodyContent.length === 1 ? bodyContent[0] : ''}`,
    reply?.content && 'stream',
    isList(entry) && `list:${['cursor', 'page', 'after'].find((name) => query.includes(name)) ?? ''}`,
    condition && `if:${condition}`,
    place && `tag:${place}`,
  ]
    .filter(Boolean)
    .join(' ');
}

const isList = ({ method, route }: Entry): boolean => {
  const { properties } = (route?.operation.reply.schema ?? {}) as {
    properties?: { data?: { type?: string } };
  };
  return method === 'GET' && properties?.data?.type === 'array';
};

/** Returns a method of the client's type, with the documentation of its operation. */
function methodOf(entry: Entry, entries: readonly Entry[]): string {
  const { names, method, path, operation, route } = entry;
  const { summary, description, parameters } = operation;
  const places = parameters
    .filter((each) => each.in === 'path')
    .map(({ name, schema }) => {
      const isId = 'format' in schema && schema.format === 'uuid';
      const called = path.startsWith('/f/') ? 'form' : pathParameterNameOf(path, name);
      // The only parameter name that is a reserved word in TypeScript.
      return `${called === 'import' ? 'importId' : called}: ${isId ? idType(entry, entries, name) : 'number'}`;
    });
  const input = inputOf(entry);
  const isOptional = input !== undefined && !input.isRequired;
  const taken = [
    ...places,
    ...(route?.operation.bodyContent ? ['file: FileBody'] : []),
    ...(input ? [`input${isOptional ? '?' : ''}: ${input.type}`] : []),
    'options?: CallOptions',
  ];
  const about = `${summary}. ${description ?? ''} \`${method} ${path}\``.replaceAll('..', '.');
  return `${formatDocComment(about, '    ')}    ${names[1]}(${taken.join(', ')}): ${replyType(entry)};\n`;
}

/**
 * Returns the type that identifies a resource: its id, an object with an `id`, or what was read at the path
 * where it is changed.
 */
function idType(entry: Entry, entries: readonly Entry[], name: string): string {
  const condition = conditionPath(entry, entries);
  const readings = entries
    .filter((each) => name === 'id' && condition !== undefined && replyPath(each, entries) === condition)
    .map((each) => componentOf(replySchema(each)))
    .filter((each) => each !== undefined);
  return ['Id', ...new Set(readings)].join(' | ');
}

const componentOf = ({ $ref }: JsonSchema): string | undefined => $ref?.slice($ref.lastIndexOf('/') + 1);

/** Returns the query and the body combined as one type. */
function inputOf({ operation }: Entry): { type: string; isRequired: boolean } | undefined {
  const query = operation.parameters.filter((each) => each.in === 'query');
  const content = operation.requestBody?.content['application/json'];
  const body: JsonSchema | undefined = content?.schema;
  const inQuery = Object.fromEntries(
    query.map(({ name, schema, description }) => [
      name,
      // A condition is sent as JSON, which the client writes.
      name === 'where'
        ? { anyOf: [{ $ref: '/Condition' }, { type: 'string' as const }], description }
        : { ...schema, description },
    ]),
  ) as Record<string, JsonSchema>;
  const required = query.filter((each) => each.required).map(({ name }) => name);
  const own: JsonSchema = {
    properties: { ...inQuery, ...body?.properties },
    required: [...required, ...(body?.required ?? [])],
  };
  const names = Object.keys(own.properties!);
  if (names.length === 0 && !body?.$ref) return undefined;
  const form = operation.requestBody?.content['multipart/form-data'] ? ' | FormData' : '';
  const types = [
    ...(body?.$ref ? [formatTypeScriptType(body, '', '')] : []),
    ...(names.length > 0 ? [formatTypeScriptType(own, '', '    ')] : []),
  ];
  const isRequired = own.required!.length > 0 || body?.$ref !== undefined;
  return { type: types.join(' & ') + form, isRequired };
}

const replySchema = ({ operation }: Entry): JsonSchema => {
  const [, reply] = Object.entries(operation.responses).find(([status]) => Number(status) < 300)!;
  return ('content' in reply ? reply.content?.['application/json']?.schema : undefined) ?? {};
};

function replyType(entry: Entry): string {
  if (entry.route?.operation.reply.content) return 'Promise<Response>';
  const schema = replySchema(entry);
  if (Object.keys(schema).length === 0) return 'Promise<void>';
  const type = formatTypeScriptType(schema, '', '    ');
  return isList(entry) ? `List<${type}>` : `Promise<${type}>`;
}
