/* Times are counted in spans that each are a tenth longer than the one before: their middle is never 5 % away. */
const growth = 1.1;
/** Beyond it a page was only forgotten: 30 days. */
const mostSeconds = 2_592_000;

/** The span that a time belongs to. */
export const spanOf = (seconds: number): number =>
  Math.floor(Math.log(Math.min(Math.max(seconds, 1), mostSeconds)) / Math.log(growth));

/** The time that half of all stayed below, in seconds; null when there is none. */
export function medianOf(spans: readonly (readonly [span: number, count: number])[]): number | null {
  const total = spans.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [span, count] of spans.toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below * 2 >= total && count > 0) return Math.round(growth ** (span + 0.5));
  }
  return null;
}
