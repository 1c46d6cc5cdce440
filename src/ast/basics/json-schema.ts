/** The parts of JSON Schema 2020-12 that the schemas of answers use. */
export type JsonSchema = {
  readonly $schema?: string;
  readonly $id?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly title?: string;
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly const?: string;
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: JsonSchema | boolean;
};

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/** Returns a schema that also accepts null, because clients can send absent members as null. */
export function orNullSchema(schema: Readonly<Record<string, unknown>>): object {
  const { title, description, examples, type, ...rest } = schema;
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const shown = examples === undefined ? {} : { examples };
  if (typeof type !== 'string') return { ...about, ...shown, anyOf: [rest, { type: 'null' }] };
  const values = Array.isArray(rest['enum']) && { enum: [...(rest['enum'] as unknown[]), null] };
  return { ...about, ...shown, ...rest, ...values, type: [type, 'null'] };
}

export const schemaReference = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
