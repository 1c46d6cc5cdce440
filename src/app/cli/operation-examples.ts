import { isSameJson } from '#ast/json.ts';
import type { ApiRoute } from '../operations.ts';
import { optionName, valueOf } from './schema-options.ts';

/** The example of an operation as options. */
export function exampleArguments({ operation: { example, query, body, bodyContent } }: ApiRoute): string[] {
  return [
    ...argumentsFor(query.properties, example.query),
    ...argumentsFor(body?.properties ?? {}, body && example.body),
    // `image.png` for image/png.
    ...(bodyContent ? ['--body-file', bodyContent[0]!.replace('/', '.')] : []),
  ];
}

function argumentsFor(properties: object, fields: unknown): string[] {
  return Object.entries((fields ?? {}) as Record<string, unknown>).flatMap(([field, value]) => {
    const name = optionName(field);
    const reader = valueOf((properties as Record<string, object>)[field] ?? {});
    if (!reader) return [String(value) === 'true' ? `--${name}` : `--no-${name}`];
    if (value === null) return [`--no-${name}`];
    if (typeof value === 'string' && (!reader.isFile || reader.read(value) === value))
      return [`--${name}`, value];
    const joined = Array.isArray(value) ? value.join(',') : '';
    return [`--${name}`, isSameJson(reader.read(joined), value) ? joined : JSON.stringify(value)];
  });
}

/** A word as a shell takes it. */
export const quote = (word: string): string =>
  /^[\w@:/.,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
