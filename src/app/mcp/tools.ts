import { structureSchemas } from '#ast/schema.ts';
import { settingsSchemas } from '#ast/settings.ts';
import { ApiError } from '#kit/errors.ts';
import { permissionNames } from '#rules/permissions.ts';
import type { OperationResource } from '../openapi/operations.ts';
import { createSchemaRegistry, type SchemaRegistry } from '../openapi/schemas.ts';
import { pathParameterNameOf } from '../operations/call-operation.ts';
import type { ApiRoute } from '../operations/operations.ts';
import type { OperationName } from '../operations/routes.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A self-contained JSON Schema of an object. The schemas that it refers to are in its `$defs`. */
type ObjectSchema = Schema & {
  readonly type: 'object';
  readonly properties: Record<string, Schema>;
  readonly required?: string[];
};

/** A tool as `tools/list` returns it. */
export type ListedTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
};

/** An operation of the API as a tool. */
export type Tool = {
  route: ApiRoute;
  listed: ListedTool;
  /** The path parameter for each path argument: `form_id` is `id` of `/forms/:id`. */
  pathArguments: Readonly<Record<string, string>>;
};

export type ToolCatalog = {
  byName: ReadonlyMap<string, Tool>;
  /** The JSON Schemas of the form language by part: `form`, `rating`, `condition`, `settings`, ... */
  language: ReadonlyMap<string, object>;
};

/** Whether a response about this resource can contain text from people outside the workspace. */
const hasOutsideText: Readonly<Record<OperationResource, boolean>> = {
  forms: false,
  submissions: true,
  files: true,
  invitations: true,
  events: true,
  // The delivery log contains responses of receivers.
  webhooks: true,
  members: true,
  keys: false,
  workspace: false,
  mail: true,
  audit: false,
  people: true,
};

export const toolGroupOf = ({ operation }: ApiRoute): OperationResource =>
  operation.permission.split(':')[0] as OperationResource;

/** Whether the response can contain text from people outside the workspace. */
export const isUntrusted = (route: ApiRoute): boolean => hasOutsideText[toolGroupOf(route)];

/**
 * Operations that are not available as tools: `publish_form` is the only way to change a live form, so that a
 * person can review the change first.
 */
const changesLiveForm: ReadonlySet<OperationName> = new Set(['updateForm', 'changeForm']);
const publishes: Readonly<Partial<Record<OperationName, string>>> = { createForm: 'publish' };

/** The tool that explains form trees, conditions and settings (special-tools.ts). */
export const formLanguageToolName = 'get_form_language';

/** Returns the tool name of an operation: `listForms` is `list_forms`. */
export const toolName = (name: OperationName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Arguments of tools that are not fields of their operations. */
const added = {
  if_match: {
    type: 'string',
    description: 'The `etag` that you read. The change is refused if the resource has changed since.',
  },
  confirm: {
    type: 'boolean',
    description: 'Set this to true after a person has confirmed. The action cannot be undone.',
  },
  file: { type: 'string', contentEncoding: 'base64', description: 'The content of the file in base64.' },
} as const satisfies Record<string, Schema>;

/** Turns every operation into a tool. The result does not depend on the caller. */
export function buildTools(all: readonly ApiRoute[]): ToolCatalog {
  const language = { ...structureSchemas(), ...settingsSchemas() };
  const schemas = createSchemaRegistry(language);
  const routes = all.filter(({ name }) => !changesLiveForm.has(name));
  // A component is known once it has been written, so all are written before any schema is closed.
  const drawn = routes.map((route) => ({ route, input: inputOf(route, schemas) }));
  const components = schemas.components() as Readonly<Record<string, Schema>>;
  const isLanguage = (name: string): boolean => Object.hasOwn(language, name);
  const byName = new Map(
    drawn.map(({ route, input }): [string, Tool] => {
      const inputSchema = close(input, components, isLanguage) as ObjectSchema;
      const listed = { name: toolName(route.name), ...describe(route), inputSchema };
      return [listed.name, { route, listed, pathArguments: pathArgumentsOf(route) }];
    }),
  );
  const parts = Object.keys(language).map((name): [string, object] => [
    partName(name),
    close(components[name]!, components, isLanguage),
  ]);
  return { byName, language: new Map(parts) };
}

/**
 * Returns the part of the language that a component describes: `MultipleChoiceElement` is `multiple_choice`,
 * `Structure` is `form`.
 */
const partName = (component: string): string =>
  component === 'Structure'
    ? 'form'
    : component
        .replace(/(?<=.)Element$/, '')
        .replaceAll(/(?<=.)[A-Z]/g, '_$&')
        .toLowerCase();

function describe(route: ApiRoute): Pick<ListedTool, 'title' | 'description' | 'annotations'> {
  const { method, operation } = route;
  const { summary, description, permission, isDestructive } = operation;
  const isReading = permission.endsWith(':read');
  return {
    title: summary,
    description: [`${summary}.`, description].filter(Boolean).join(' '),
    annotations: {
      readOnlyHint: isReading,
      destructiveHint: isDestructive,
      idempotentHint: method !== 'POST' || isReading,
      openWorldHint: isUntrusted(route),
    },
  };
}

/** Returns the path arguments of a tool: `id` of `/forms/:id` is the argument `form_id`. */
const pathArgumentsOf = ({ path, operation }: ApiRoute): Record<string, string> =>
  Object.fromEntries(
    Object.keys(operation.params.properties).map((name) => [
      name === 'id' ? `${pathParameterNameOf(path, name)}_id` : name,
      name,
    ]),
  );

/** Returns the path, query and body as one object. Their fields all have different names. */
function inputOf(route: ApiRoute, schemas: SchemaRegistry): ObjectSchema {
  const { params, query, body, bodyContent, isDestructive, isConditional } = route.operation;
  const pathArguments = pathArgumentsOf(route);
  const fields: Record<string, unknown> = { ...query.properties, ...body?.properties };
  const properties = Object.fromEntries([
    ...Object.entries(pathArguments).map(([name, parameter]) => [
      name,
      schemas.write(params.properties[parameter]!),
    ]),
    ...Object.entries(fields)
      .filter(([name, schema]) => name !== publishes[route.name] && !(schema as Schema)['readOnly'])
      // In a URL, a condition is JSON text; here it is an object.
      .map(([name, schema]) => [
        name,
        name === 'where' ? condition(schema as Schema) : schemas.write(schema as object),
      ]),
    ...(bodyContent ? [['file', added.file]] : []),
    ...(isConditional ? [['if_match', added.if_match]] : []),
    ...(isDestructive ? [['confirm', added.confirm]] : []),
  ]) as Record<string, Schema>;
  const required = [
    ...Object.keys(pathArguments),
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

/** Returns the property of a structured result that contains the response of the operation. */
export const resultPropertyOf = (route: ApiRoute): 'untrusted_content' | 'result' =>
  isUntrusted(route) ? 'untrusted_content' : 'result';

const reference = /^#\/components\/schemas\/(\w+)$/;

/**
 * Returns a schema with the schemas that it refers to in `$defs`. Parts of the form language (61 KB in total)
 * are only named, because the language tool returns them.
 */
function close(
  schema: Schema,
  components: Readonly<Record<string, Schema>>,
  isLanguage: (name: string) => boolean,
): Schema {
  const $defs: Record<string, unknown> = {};
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    // A keyword that exists only in OpenAPI.
    const { $ref, discriminator: _, ...rest } = part as Schema;
    if (typeof $ref !== 'string')
      return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, walk(value)]));
    const name = reference.exec($ref)![1]!;
    if (isLanguage(name))
      return {
        type: 'object',
        description: `See ${formLanguageToolName}, part "${partName(name)}".`,
        ...rest,
      };
    if (!Object.hasOwn($defs, name)) {
      $defs[name] = {};
      $defs[name] = walk(components[name]);
    }
    return { ...rest, $ref: `#/$defs/${name}` };
  };
  const walked = walk(schema) as Schema;
  return Object.keys($defs).length > 0 ? { ...walked, $defs } : walked;
}

/** The names of the tools that find and call operations that are not listed as tools. */
export const findOperationsToolName = 'find_operations';
export const callOperationToolName = 'call_operation';

/**
 * The operations that are listed by default, for building a form, reading submissions, and finding out why a
 * webhook fails. Together with the three special tools, the list costs a model less than 6,000 tokens; all
 * 140 operations would cost 45,000.
 */
const defaults: ReadonlySet<string> = new Set(
  (
    [
      'listForms',
      'getForm',
      'validateForm',
      'createForm',
      'getDraft',
      'saveDraft',
      'publishForm',
      'listFormSubmissions',
      'searchSubmissions',
      'getSubmission',
      'getFormSummary',
      'listWebhooks',
      'getWebhookHealth',
      'listDeliveries',
      'getDelivery',
      'retryDelivery',
    ] as const satisfies readonly OperationName[]
  ).map(toolName),
);

const specialTools: ReadonlySet<string> = new Set([
  formLanguageToolName,
  findOperationsToolName,
  callOperationToolName,
]);

/** The groups of tools. A group is the part of a permission before the colon. */
export const toolGroups: readonly string[] = [
  ...new Set(permissionNames.map((permission) => permission.split(':')[0]!)),
];

/** The tools that a client selected. */
export type ToolSelection = {
  /** The names of tools and groups, or `all`; undefined for the default list. */
  readonly names: ReadonlySet<string> | undefined;
  readonly isReadOnly: boolean;
};

/**
 * Parses `tools=forms,get_delivery` and `read_only=true`.
 * @param known the names of all tools.
 * @throws ApiError bad_request for a name that is neither a tool nor a group.
 */
export function readToolSelection(
  { tools, readOnly }: { tools: string | undefined; readOnly: string | undefined },
  known: ReadonlyMap<string, Tool>,
): ToolSelection {
  const names = tools?.split(',').map((name) => name.trim());
  const unknown = names?.find(
    (name) => name !== 'all' && !toolGroups.includes(name) && !known.has(name) && !specialTools.has(name),
  );
  if (unknown !== undefined)
    throw new ApiError(
      'bad_request',
      `There is no tool or group "${unknown}". The groups are all, ${toolGroups.join(', ')}.`,
    );
  if (readOnly !== undefined && readOnly !== 'true' && readOnly !== 'false')
    throw new ApiError('bad_request', 'read_only must be true or false.');
  return { names: names && new Set(names), isReadOnly: readOnly === 'true' };
}

/** Whether an operation is listed as a tool. */
export function isOperationListed({ names }: ToolSelection, { route, listed }: Tool): boolean {
  if (!names) return defaults.has(listed.name);
  return names.has('all') || names.has(listed.name) || names.has(toolGroupOf(route));
}

/** Whether a special tool is listed. The form language tool belongs to the group `forms`. */
export const isSpecialListed = ({ names }: ToolSelection, name: string): boolean =>
  !names || names.has('all') || names.has(name) || (name === formLanguageToolName && names.has('forms'));
