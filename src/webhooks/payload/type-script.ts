import type { JsonSchema, JsonType } from '#ast/json-schema.ts';

/**
 * The TypeScript types of a payload schema: one for each of its `$defs`, named after the form (`ContactEvent`).
 * @param schema as payloadSchema writes it.
 */
export function typeScriptOf(schema: JsonSchema): string {
  const prefix = typeName(schema.title ?? '');
  const types = Object.entries(schema.$defs ?? {}).map(
    ([name, definition]) =>
      `${comment(definition.description, '')}export type ${prefix}${name} = ${typeOf(definition, prefix, '')};\n`,
  );
  return `// Made from ${schema.$id ?? 'its JSON Schema'}\n\n${types.join('\n')}`;
}

/** The form's name as the beginning of a type's name; what is no ASCII letter or digit is left out. */
function typeName(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .match(/[A-Za-z0-9]+/g) ?? [];
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(joined) ? joined.slice(0, 40) : `Form${joined.slice(0, 36)}`;
}

const plain: Readonly<Record<JsonType, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
  array: 'unknown[]',
  object: 'Record<string, unknown>',
};

/**
 * The TypeScript type of a schema.
 * @param prefix stands before the names that it refers to.
 * @param indent of the line on which it begins.
 */
export function typeOf(schema: JsonSchema, prefix: string, indent: string): string {
  const { $ref, const: only, enum: words, type } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return prefix + $ref.slice($ref.lastIndexOf('/') + 1);
  if (only !== undefined) return JSON.stringify(only);
  if (words) return words.map((word) => JSON.stringify(word)).join(' | ');
  // Beside options, a plain `string` would swallow them, and with them what an editor suggests.
  if (alternatives) {
    const text = alternatives.some((each) => each.enum ?? each.oneOf) ? '(string & {})' : 'string';
    return alternatives
      .map((each) => (each.type === 'string' && !each.enum ? text : typeOf(each, prefix, indent)))
      .join(' | ');
  }
  const structured = structuredType(schema, prefix, indent);
  const types = [type ?? 'object'].flat();
  if (structured !== undefined) return types.includes('null') ? `${structured} | null` : structured;
  return types.map((each) => plain[each]).join(' | ');
}

/** The type of a schema that says what its parts are. */
function structuredType(schema: JsonSchema, prefix: string, indent: string): string | undefined {
  const { items, properties, additionalProperties } = schema;
  if (items) return `Array<${typeOf(items, prefix, indent)}>`;
  const isOpen = typeof additionalProperties === 'object';
  if (properties && (Object.keys(properties).length > 0 || additionalProperties !== true))
    return objectType(schema, prefix, indent);
  return isOpen ? `Record<string, ${typeOf(additionalProperties, prefix, indent)}>` : undefined;
}

function objectType({ properties = {}, required = [] }: JsonSchema, prefix: string, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? '' : '?';
    const note = [schema.title, schema.description].filter(Boolean).join('. ');
    return `${comment(note, inner)}${inner}${key}${mark}: ${typeOf(schema, prefix, inner)};\n`;
  });
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
}

/** A label is anybody's text: it must not end the comment. */
export const comment = (text: string | undefined, indent: string): string =>
  text ? `${indent}/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n` : '';
