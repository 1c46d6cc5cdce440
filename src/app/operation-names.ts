import type { ApiRoute } from './operations.ts';

/**
 * What an operation is called on the command line, by one rule for all: the first word of its name is what is done, and
 * the others are what it is done with. `listForms` is `forms list`. A part of what the path begins with is named after
 * it: `getFormSchema` is `forms schema`, `setWebhookSecret` is `webhooks set-secret`. Where that reads badly the
 * declaration says another (`command`).
 */
export function commandName({
  name,
  path,
  operation,
}: Pick<ApiRoute, 'name' | 'path' | 'operation'>): string {
  if (operation.command !== undefined) return operation.command;
  const [verb, ...words] = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const things = words.join('-');
  const segments = path.split('/').filter((segment) => !segment.startsWith(':'));
  const root = segments[1]!;
  const whole = singular(root);
  if (things === root || things === whole) return `${root} ${verb}`;
  if (things.startsWith(`${whole}-`)) {
    const part = things.slice(whole.length + 1);
    return `${root} ${verb === 'get' || verb === 'list' ? part : `${verb}-${part}`}`;
  }
  return `${segments.includes(things) ? things : plural(things)} ${verb}`;
}

/** The name of a path's parameter: `:id` is one of what stands before it. */
export function parameterName(path: string, parameter: string): string {
  if (parameter !== 'id') return parameter;
  const segments = path.split('/');
  return singular(segments[segments.indexOf(':id') - 1]!);
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');

const plural = (word: string): string =>
  word.endsWith('s') ? word : word.replace(/(?<=[^aeiou])y$/, 'ie').concat('s');
