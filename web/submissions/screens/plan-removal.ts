/**
 * What one press takes out of the trash: the selection, or without one as many as go at a time.
 * @returns how many go, which is what the person confirms, and how many others stay that were meant as well.
 */
export function planRemoval({
  selected,
  total,
  atOnce,
}: {
  selected: number;
  /** How many lie in the trash. */
  total: number;
  /** How many the server takes at a time. */
  atOnce: number;
}): { count: number; rest: number } {
  if (selected > 0) return { count: selected, rest: 0 };
  const count = Math.min(total, atOnce);
  return { count, rest: total - count };
}
