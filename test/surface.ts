import type { OpenApi } from '#app/openapi/schemas.ts';
import { runHere } from './command-line.ts';

/*
 * The contract of the product in diff-friendly lines: each operation and schema of the OpenAPI document, and
 * each command. It leaves out sentences, which `npm run test:record` compares.
 */

/** Whether a schema keyword does not affect which values are valid. */
const isProse = (name: string): boolean =>
  /^(description|title|examples?|default|contentMediaType)$/.test(name);

/**
 * Formats a JSON schema as a type: `{name*: string(maxLength=200), tags: string[]}`. `*` marks required
 * properties.
 */
function writeType(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return JSON.stringify(schema);
  const {
    $ref,
    type,
    const: only,
    enum: words,
    properties,
    required,
    items,
    anyOf,
    oneOf,
    allOf,
    ...more
  } = schema as Record<string, unknown>;
  if (typeof $ref === 'string') return $ref.split('/').at(-1)!;
  if (only !== undefined) return JSON.stringify(only);
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.map(writeType).join(' | ') + writeLimits(more);
  if (Array.isArray(allOf)) return allOf.map(writeType).join(' & ') + writeLimits(more);
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' | ');
  if (items !== undefined) return `(${writeType(items)})[]${writeLimits(more)}`;
  if (properties !== undefined || type === 'object') {
    const names = Object.entries(properties ?? {}).map(
      ([name, each]) =>
        `${name}${(required as string[] | undefined)?.includes(name) ? '*' : ''}: ${writeType(each)}`,
    );
    return `{${names.join(', ')}}${writeLimits(more)}`;
  }
  return `${Array.isArray(type) ? type.join('|') : typeof type === 'string' ? type : 'any'}${writeLimits(more)}`;
}

function writeLimits(more: Record<string, unknown>): string {
  const limits = Object.entries(more)
    .filter(([name]) => !isProse(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : writeType(value)}`);
  return limits.length === 0 ? '' : `(${limits.join(', ')})`;
}

type Content = Readonly<Record<string, { schema?: unknown }>> | undefined;
const writeContent = (content: Content): string =>
  Object.entries(content ?? {})
    .map(([mime, { schema }]) => `${mime === 'application/json' ? '' : `${mime} `}${writeType(schema)}`)
    .join(' or ');

/** Returns one line for each operation and each named schema of an OpenAPI document. */
export function documentLines({ paths, components }: OpenApi): string[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, 'x-permission': permission = 'public', requestBody, responses } = operation;
      const named = operation.parameters.map(
        (each) => `${each.name} in ${each.in}${each.required ? '*' : ''}: ${writeType(each.schema)}`,
      );
      const body = requestBody ? [`body: ${writeContent(requestBody.content)}`] : [];
      const answers = Object.entries(responses).map(([status, answer]) =>
        `${status} ${'$ref' in answer ? '' : writeContent(answer.content as Content)}`.trim(),
      );
      return `${method.toUpperCase()} ${path} ${operationId} ${permission} (${[...named, ...body].join('; ')}) → ${answers.join(', ')}`;
    }),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `schema ${name} ${writeType(schema)}`,
  );
  return [...operations.toSorted(), ...schemas.toSorted()];
}

/** Returns the usage line of each command. */
export async function commandLines(names: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const name of names) {
    const { printed } = await runHere({}, [...name.split(' '), '--help']);
    lines.push(/ -- (.*)/.exec(printed)?.[1] ?? `${name}: no usage line`);
  }
  return lines.toSorted();
}
