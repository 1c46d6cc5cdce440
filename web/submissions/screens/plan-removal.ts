/**
 * Plans which submissions to delete from the trash: the selection, or without one, as many as the server
 * deletes at a time.
 * @returns the number to confirm, and how many remain in the trash.
 */
export function countTrashDeletions({
  selected,
  total,
  atOnce,
}: {
  selected: number;
  /** The number of submissions in the trash. */
  total: number;
  /** The maximum number that the server deletes at a time. */
  atOnce: number;
}): { count: number; rest: number } {
  if (selected > 0) return { count: selected, rest: 0 };
  const count = Math.min(total, atOnce);
  return { count, rest: total - count };
}
