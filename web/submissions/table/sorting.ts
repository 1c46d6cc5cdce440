/** A column in the sort order. */
type SortedBy = { readonly id: string; readonly isDescending: boolean };

/** Parses the sort order from the URL: the first column, and a second one that sorts ties. */
export const readSorting = (sort: string | undefined): SortedBy[] =>
  sort === undefined
    ? []
    : sort.split(',').map((part) => ({ id: part.replace(/^-/, ''), isDescending: part.startsWith('-') }));

const writeSorting = (columns: readonly SortedBy[]): string | undefined =>
  columns.length === 0
    ? undefined
    : columns.map(({ id, isDescending }) => `${isDescending ? '-' : ''}${id}`).join(',');

/** Returns the sort order after a column was chosen, either alone or after the first sort column. */
export function sortBy(
  sort: string | undefined,
  column: SortedBy,
  { isSecond }: { isSecond: boolean },
): string | undefined {
  const [first] = readSorting(sort);
  const keeps = isSecond && first !== undefined && first.id !== column.id;
  return writeSorting(keeps ? [first, column] : [column]);
}

/** Returns the sort order without a column. */
export const unsort = (sort: string | undefined, id: string): string | undefined =>
  writeSorting(readSorting(sort).filter((column) => column.id !== id));

/**
 * Returns the sort order after a header was pressed: ascending, descending, then unsorted. With Shift, the
 * column sorts ties.
 */
export function toggleSorting(
  sort: string | undefined,
  id: string,
  { isSecond }: { isSecond: boolean },
): string | undefined {
  const sorted = readSorting(sort);
  const before = sorted.find((column) => column.id === id);
  if (before && (isSecond || sorted.length === 1)) {
    if (before.isDescending) return unsort(sort, id);
    return writeSorting(sorted.map((column) => (column.id === id ? { id, isDescending: true } : column)));
  }
  return sortBy(sort, { id, isDescending: false }, { isSecond });
}
