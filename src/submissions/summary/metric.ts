import type { ElementSummary } from '../shapes.ts';

type Metric = NonNullable<ElementSummary['metric']>;

/** Returns the usual figure of a scale with these levels, or undefined if it has none. */
export function metricNameOf(levels: readonly number[]): Metric['name'] | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === 0 && last === 10) return 'nps';
  if (first === 1 && last === 7) return 'ces';
  return levels.length === 5 ? 'csat' : undefined;
}

/**
 * Computes the usual figure of a scale:
 * - `nps`, for 0 to 10: the percentage of promoters (9 and 10) minus that of detractors (0 to 6).
 * - `csat`, for five levels: the percentage of the two highest.
 * - `ces`, for 1 to 7: the mean.
 * Scores and percentages are rounded to whole numbers. Answers outside of the scale, from previous versions,
 * are left out.
 */
export function metricOf(levels: readonly number[], countOf: (level: number) => number): { metric?: Metric } {
  const name = metricNameOf(levels);
  const sum = (of: readonly number[]): number => of.reduce((total, level) => total + countOf(level), 0);
  const answers = sum(levels);
  if (name === undefined || answers === 0) return {};
  const values = {
    nps: () => round((100 * (sum([9, 10]) - sum([0, 1, 2, 3, 4, 5, 6]))) / answers),
    csat: () => round((100 * sum(levels.slice(-2))) / answers),
    ces: () => levels.reduce((total, level) => total + level * countOf(level), 0) / answers,
  } as const satisfies Record<Metric['name'], () => number>;
  return { metric: { name, value: values[name](), answers } };
}

/** Rounds to a whole number; -0.4 becomes 0, not -0. */
const round = (value: number): number => Math.round(value) || 0;
