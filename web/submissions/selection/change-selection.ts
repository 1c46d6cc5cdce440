/** The selection after some rows were taken in or out. */
export function changeSelection(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  isSelected: boolean,
): ReadonlySet<string> {
  return isSelected ? selected.union(new Set(ids)) : selected.difference(new Set(ids));
}
