/*
 * Times are counted in spans that are each 10% longer than the previous one, so the middle of a span is at
 * most 5% off.
 */
const growth = 1.1;
/** Longer times are capped at 30 days: the page was only left open. */
const mostSeconds = 2_592_000;

/** Returns the span of a time. */
export const spanOf = (seconds: number): number =>
  Math.floor(Math.log(Math.min(Math.max(seconds, 1), mostSeconds)) / Math.log(growth));

/** Returns the median time in seconds; null without times. */
export function medianOf(spans: readonly (readonly [span: number, count: number])[]): number | null {
  const total = spans.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [span, count] of spans.toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below * 2 >= total && count > 0) return Math.round(growth ** (span + 0.5));
  }
  return null;
}
