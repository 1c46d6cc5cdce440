/**
 * Returns how many submissions will be deleted from the trash: the selection, or without one as many as the
 * server deletes at a time.
 * @returns the number to confirm, and how many remain in the trash.
 */
export function planRemoval({
  selected,
  total,
  atOnce,
}: {
  selected: number;
  /** Submissions in the trash. */
  total: number;
  /** The most that the server deletes at a time. */
  atOnce: number;
}): { count: number; rest: number } {
  if (selected > 0) return { count: selected, rest: 0 };
  const count = Math.min(total, atOnce);
  return { count, rest: total - count };
}
