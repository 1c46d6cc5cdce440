import { type OperationName, routes } from '#app/operations/routes.ts';

/** What somebody else has made of a thing since it was looked at, as far as it can be told. */
export type Meanwhile = {
  /** `webhook`, `form`, … */
  readonly thing: string;
  readonly by: string | undefined;
  readonly at: string | undefined;
  readonly differences: readonly { readonly name: string; readonly before: string; readonly now: string }[];
};

/** Where a thing is read that an operation changes or does something with: `/forms/:id` of `/forms/:id/archive`. */
export function readingOf(path: string): { name: OperationName; thing: string } | undefined {
  const [place = path, resource = ''] = /^\/(\w+)(\/:id)?/.exec(path) ?? [];
  const reading = `GET ${place}`;
  const name = (Object.keys(routes) as OperationName[]).find((each) => routes[each] === reading);
  return name && { name, thing: resource.replace(/s$/, '') };
}

/** In words, of what both readings hold; times and counts change without anybody's doing. */
export function differencesOf(seen: object, now: object): Meanwhile['differences'] {
  const later = new Map(Object.entries(now));
  return Object.entries(seen).flatMap(([name, value]) => {
    if (/_(at|since|count)$|^(id|etag)$/.test(name) || !later.has(name)) return [];
    const [before, after] = [say(value), say(later.get(name))];
    const isSame = before === undefined || after === undefined || before === after;
    return isSame ? [] : [{ name: sayName(name), before, now: after }];
  });
}

const sayName = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** Undefined for what takes more than a few words. */
function say(value: unknown): string | undefined {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.toSorted().join(', ') || 'none'
    : undefined;
}
