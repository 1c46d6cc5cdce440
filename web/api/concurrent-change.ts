import { type OperationName, routes } from '#app/operations/routes.ts';

/** What another person changed after the thing was loaded, if known. */
export type ConcurrentChange = {
  /** For example, `webhook` or `form`. */
  readonly thing: string;
  readonly by: string | undefined;
  readonly at: string | undefined;
  readonly differences: readonly { readonly name: string; readonly before: string; readonly now: string }[];
};

/** Finds the operation that reads the thing a path changes: `/forms/:id` for `/forms/:id/archive`. */
export function findReadOperation(path: string): { name: OperationName; thing: string } | undefined {
  const [place = path, resource = ''] = /^\/(\w+)(\/:id)?/.exec(path) ?? [];
  const reading = `GET ${place}`;
  const name = (Object.keys(routes) as OperationName[]).find((each) => routes[each] === reading);
  return name && { name, thing: resource.replace(/s$/, '') };
}

/** Describes the differences in words. Times and counts are left out, because they change by themselves. */
export function describeDifferences(seen: object, now: object): ConcurrentChange['differences'] {
  const later = new Map(Object.entries(now));
  return Object.entries(seen).flatMap(([name, value]) => {
    if (/_(at|since|count)$|^(id|etag)$/.test(name) || !later.has(name)) return [];
    const [before, after] = [formatValue(value), formatValue(later.get(name))];
    const isSame = before === undefined || after === undefined || before === after;
    return isSame ? [] : [{ name: formatName(name), before, now: after }];
  });
}

const formatName = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** Formats a value in a few words. Returns undefined if that is not possible. */
function formatValue(value: unknown): string | undefined {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.toSorted().join(', ') || 'none'
    : undefined;
}
