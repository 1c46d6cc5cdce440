import { structureSchemas } from '#ast/schema.ts';
import { settingsSchemas } from '#ast/settings-schema.ts';
import { parameterName } from '../cli/operation-names.ts';
import type { Resource } from '../openapi/operations.ts';
import { openSchemas, type Schemas } from '../openapi/schemas.ts';
import type { ApiRoute } from '../operations.ts';
import type { OperationName } from '../routes.ts';

type Schema = Readonly<Record<string, unknown>>;

/** An object by its properties, whole in itself: what it refers to is in its `$defs`. */
export type ObjectSchema = Schema & {
  readonly type: 'object';
  readonly properties: Record<string, Schema>;
  readonly required?: string[];
};

/** An operation as a tool of MCP. */
export type Tool = {
  route: ApiRoute;
  /** As `tools/list` says it. */
  listed: {
    name: string;
    title: string;
    description: string;
    inputSchema: ObjectSchema;
    outputSchema?: ObjectSchema;
    annotations: {
      readOnlyHint: boolean;
      destructiveHint: boolean;
      idempotentHint: boolean;
      openWorldHint: boolean;
    };
  };
  /** The parameters of its path, by the names of its arguments. */
  places: Readonly<Record<string, string>>;
};

/** What an operation is about, and whether it may answer with what people outside of the workspace have written. */
const isFromOutside: Readonly<Record<Resource, boolean>> = {
  forms: false,
  submissions: true,
  files: true,
  invitations: true,
  events: true,
  // What a receiver answered is in the log.
  webhooks: true,
  members: true,
  keys: false,
  workspace: false,
  mail: true,
  audit: false,
  people: true,
};

export const groupOf = ({ operation }: ApiRoute): Resource => operation.permission.split(':')[0] as Resource;

/** Whether what it answers may have been written by people outside of the workspace. */
export const isUntrusted = (route: ApiRoute): boolean => isFromOutside[groupOf(route)];

/** What puts anything before visitors is a step of its own, `publish_form`: nothing else does it, nor along the way. */
const isLiveAtOnce: ReadonlySet<OperationName> = new Set(['updateForm', 'changeForm']);
const publishes: Readonly<Partial<Record<OperationName, string>>> = { createForm: 'publish' };

/** Where the whole form language is, as one schema. */
export const languageUri = 'formloom://form-language';

/** `listForms` is `list_forms`. */
export const toolName = (name: OperationName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What tools take beside the fields of their operation. */
const added = {
  if_match: {
    type: 'string',
    description: 'The `etag` of what the change was made on: what was changed since is not changed.',
  },
  confirm: {
    type: 'boolean',
    description:
      'True once a person has said that it is meant: it cannot be undone. A client that can ask them is asked instead.',
  },
  file: { type: 'string', contentEncoding: 'base64', description: 'The bytes of the file in base64.' },
} as const satisfies Record<string, Schema>;

export type Tools = {
  byName: ReadonlyMap<string, Tool>;
  /** The JSON Schema of a form's tree, with its settings. */
  language: object;
};

/** Draws the operations as tools, once: what they are does not depend on who asks. */
export function drawTools(all: readonly ApiRoute[]): Tools {
  const language = { ...structureSchemas(), ...settingsSchemas() };
  const schemas = openSchemas(language);
  const routes = all.filter(({ name }) => !isLiveAtOnce.has(name));
  // All are written before any is closed: a component is known when it has been met.
  const drawn = routes.map((route) => ({
    route,
    input: inputOf(route, schemas),
    reply: route.operation.reply.schema && schemas.write(route.operation.reply.schema),
  }));
  const components = schemas.components() as Readonly<Record<string, Schema>>;
  /** What is answered of a form is not described in each tool: it is as it was sent. */
  const known = {
    ...components,
    ...Object.fromEntries(Object.keys(language).map((name) => [name, { description: `See ${languageUri}` }])),
  };
  const byName = new Map(
    drawn.map(({ route, input, reply }): [string, Tool] => {
      const listed = {
        name: toolName(route.name),
        ...aboutOf(route),
        inputSchema: close(input, components) as ObjectSchema,
        ...(reply && { outputSchema: close(envelope(route, reply), known) as ObjectSchema }),
      };
      return [listed.name, { route, listed, places: placesOf(route) }];
    }),
  );
  return { byName, language: close({ $ref: '#/components/schemas/Structure' }, components) };
}

function aboutOf(route: ApiRoute): Pick<Tool['listed'], 'title' | 'description' | 'annotations'> {
  const { method, operation } = route;
  const { summary, description, permission, isDestructive } = operation;
  return {
    title: summary,
    description: [`${summary}.`, description].filter(Boolean).join(' '),
    annotations: {
      readOnlyHint: permission.endsWith(':read'),
      destructiveHint: isDestructive,
      idempotentHint: method !== 'POST' || permission.endsWith(':read'),
      openWorldHint: isUntrusted(route),
    },
  };
}

/** The argument that stands for a parameter of the path: `:id` of a form is `form_id`. */
const placesOf = ({ path, operation }: ApiRoute): Record<string, string> =>
  Object.fromEntries(
    Object.keys(operation.params.properties).map((name) => [
      name === 'id' ? `${parameterName(path, name)}_id` : name,
      name,
    ]),
  );

/** Everything that an operation takes as one object: no two of its parts have a field of the same name. */
function inputOf(route: ApiRoute, schemas: Schemas): ObjectSchema {
  const { params, query, body, bodyContent, isDestructive, isConditional } = route.operation;
  const fields: Record<string, unknown> = { ...query.properties, ...body?.properties };
  const properties = Object.fromEntries([
    ...Object.entries(placesOf(route)).map(([name, place]) => [
      name,
      schemas.write(params.properties[place]!),
    ]),
    ...Object.entries(fields)
      .filter(([name]) => name !== publishes[route.name])
      // A condition goes as JSON text over the wire; here it is a condition.
      .map(([name, schema]) => [
        name,
        name === 'where' ? condition(schema as Schema) : schemas.write(schema as object),
      ]),
    ...(bodyContent ? [['file', added.file]] : []),
    ...(isConditional ? [['if_match', added.if_match]] : []),
    ...(isDestructive ? [['confirm', added.confirm]] : []),
  ]) as Record<string, Schema>;
  const required = [
    ...Object.keys(placesOf(route)),
    ...((query.required ?? []) as string[]),
    ...((body?.required ?? []) as string[]),
    ...(bodyContent ? ['file'] : []),
  ];
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const condition = ({ description }: Schema): Schema => ({
  $ref: '#/components/schemas/Condition',
  description,
});

/** What a tool answers: its operation's reply, under the name that says whose words it may hold, with its ETag. */
const envelope = (route: ApiRoute, reply: Schema): ObjectSchema => {
  const name = resultName(route);
  return {
    type: 'object',
    properties: {
      [name]: reply,
      etag: { type: 'string', description: 'For `if_match` of a change of it.' },
    },
    required: [name],
  };
};

/** The member of an answer that has what the operation answered. */
export const resultName = (route: ApiRoute): 'untrusted_content' | 'result' =>
  isUntrusted(route) ? 'untrusted_content' : 'result';

const reference = /^#\/components\/schemas\/(\w+)$/;

/** A schema with what it refers to, and nothing else. */
function close(schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const $defs: Record<string, unknown> = {};
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    const entries = Object.entries(part)
      // A keyword of OpenAPI.
      .filter(([key, value]) => !(key === 'discriminator' && typeof value === 'object'))
      .map(([key, value]) => [key, key === '$ref' ? refer(value as string) : walk(value)]);
    return Object.fromEntries(entries);
  };
  const refer = (target: string): string => {
    const name = reference.exec(target)![1]!;
    if (!Object.hasOwn($defs, name)) {
      $defs[name] = {};
      $defs[name] = walk(components[name]);
    }
    return `#/$defs/${name}`;
  };
  const walked = walk(schema) as Schema;
  return Object.keys($defs).length > 0 ? { ...walked, $defs } : walked;
}
