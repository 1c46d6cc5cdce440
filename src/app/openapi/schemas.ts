import { isDeepStrictEqual } from 'node:util';

type Schema = Readonly<Record<string, unknown>>;

/** Where the parts of a schema are: in a record by name, in a list, or alone. */
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

/** What only says something about a schema. */
const annotations = new Set(['title', 'description', 'x-component']);

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schemas of the document: those that have a name are components, which all others refer to. */
export type Schemas = {
  /** A schema as the document has it. */
  write(schema: object): Schema;
  /** The components, by their names, as far as they have been written. */
  components(): Record<string, object>;
};

/**
 * Begins with the components that have names already, and adds each that is met with a name of its own (kit/named.ts).
 * @throws Error for two schemas under one name, and for a name that leads nowhere.
 */
export function openSchemas(known: Readonly<Record<string, object>>): Schemas {
  const components = new Map<string, object>();

  function write(schema: object): Schema {
    // As it goes to the wire: what the library keeps beside it is not there.
    return walk(JSON.parse(JSON.stringify(schema)) as Schema);
  }

  function walk(schema: Schema): Schema {
    const name = schema['x-component'];
    if (typeof name !== 'string') return plain(schema);
    const isReference = Object.keys(schema).every((key) => annotations.has(key));
    if (!isReference) return add(name, schema);
    if (!Object.hasOwn(known, name)) throw new Error(`There is no schema with the name ${name}.`);
    const { description } = schema;
    return { ...referTo(name), ...(description !== undefined && { description }) };
  }

  function add(name: string, schema: Schema): Schema {
    const { 'x-component': _, ...rest } = schema;
    const written = plain(rest);
    const before = components.get(name) ?? known[name];
    if (before && !isDeepStrictEqual(before, written)) throw new Error(`Two schemas have the name ${name}.`);
    components.set(name, written);
    return referTo(name);
  }

  function plain(schema: Schema): Schema {
    const { default: preset, patternProperties, ...rest } = tidy(schema);
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

/** A record that takes any name is said as generators of code know it. */
const open = (patterns: unknown): Schema =>
  isSchema(patterns) ? { additionalProperties: Object.values(patterns)[0] } : {};

/** A keyword `default` says to generators that a value is always there; to a request it only says what is assumed. */
function describe(description: unknown, preset: unknown): Schema {
  if (preset === undefined) return {};
  const assumed = `${typeof preset === 'string' ? preset : JSON.stringify(preset)} by default.`;
  return { description: typeof description === 'string' ? `${description} ${assumed}` : assumed };
}

/** Says the type of a choice of words, and joins a type with null, as they are written by hand. */
function tidy(schema: Schema): Schema {
  const [choice, none, ...more] = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Schema[]) : [];
  const isNullable = choice && more.length === 0 && isDeepStrictEqual(none, { type: 'null' });
  if (isNullable && !('x-component' in choice)) {
    const { anyOf: _, ...rest } = schema;
    const { enum: words, type } = tidy(choice);
    if (Array.isArray(words))
      return { ...tidy(choice), type: ['string', 'null'], enum: [...(words as unknown[]), null], ...rest };
    if (typeof type === 'string') return { ...choice, type: [type, 'null'], ...rest };
  }
  const { enum: words, const: only } = schema;
  // Some generators read a `const` without a type as unknown.
  if (only !== undefined && schema['type'] === undefined) return { type: typeof only, ...schema };
  const isOfWords = Array.isArray(words) && words.every((word) => typeof word === 'string');
  return isOfWords && schema['type'] === undefined ? { type: 'string', ...schema } : schema;
}

/** An OpenAPI 3.1 document, as far as we write it. */
export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: object; contact: object };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Omit<Operation, 'parameters'> & { parameters: Parameter[] } }>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
  security: object[];
  externalDocs: { url: string; description: string };
};

export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: true;
  tags: string[];
  security: Record<string, string[]>[];
  /** Without one anybody may, or the service itself does. */
  'x-permission'?: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response | Reference>;
  /** In place of those of the document. */
  servers?: { url: string }[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: object;
  example?: unknown;
};

export type Reference = { $ref: string };
export type Header = { description: string; required: boolean; schema: object };
export type Content = Record<string, { schema: object; example?: unknown }>;
export type Response = {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Content;
};
