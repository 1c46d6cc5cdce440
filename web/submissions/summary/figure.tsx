import type { ReactElement } from 'react';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import type { Bar, ElementGroup, ElementSummary } from '#submissions/shapes.ts';
import { percent } from './charts.tsx';

/** Formats a mean in the reader's language. */
export const formatMean = (mean: number): string =>
  mean.toLocaleString(undefined, { maximumFractionDigits: 2 });

type Metric = NonNullable<ElementSummary['metric']>;

/** The usual figures of scales, with how each is computed. */
const metrics = {
  nps: {
    short: 'NPS',
    how: 'Net promoter score: percentage of promoters (9 and 10) minus percentage of detractors (0 to 6).',
    format: (value) => value.toLocaleString(undefined, { signDisplay: 'exceptZero' }),
  },
  csat: {
    short: 'CSAT',
    how: 'Customer satisfaction: percentage of answers on the two highest of five levels.',
    format: (value) => percent.format(value / 100),
  },
  ces: {
    short: 'CES',
    how: 'Customer effort score: average of the answers on the scale from 1 to 7.',
    format: formatMean,
  },
} as const satisfies Record<
  Metric['name'],
  { short: string; how: string; format: (value: number) => string }
>;

type Numbers = Pick<ElementGroup, 'numbers' | 'metric'>;

/** Shows the main number of a scale: its usual figure, or the average. */
export function Figure({
  chart,
  of: { numbers, metric },
}: {
  chart: ElementSummary['chart'];
  of: Numbers;
}): ReactElement | null {
  if (!numbers) return null;
  const span = `from ${formatMean(numbers.min)} to ${formatMean(numbers.max)}`;
  const rows = chart === 'rows' ? `${pluralize(Number(numbers.mean.toFixed(2)), 'row')} ` : '';
  return (
    <p className="element-figure">
      <strong className="numeric">
        {metric ? metrics[metric.name].format(metric.value) : formatMean(numbers.mean)}
      </strong>{' '}
      <span className="soft small">
        {metric
          ? `${metrics[metric.name].short}, ${formatCount(metric.answers, 'answer')}`
          : `${rows}on average, ${span}`}
        {metric && metric.name !== 'ces' && `, average ${formatMean(numbers.mean)}`}
      </span>
    </p>
  );
}

/** Says how the usual figure of a scale is computed. */
export const FigureNote = ({ of: { metric } }: { of: Numbers }): ReactElement | null =>
  metric ? <p className="soft small">{metrics[metric.name].how}</p> : null;

export const promotersLabel = 'Promoters, passives and detractors';

/** Returns the bars of promoters, passives and detractors on a scale from 0 to 10. */
export const groupPromoters = (levels: readonly Bar[]): Bar[] =>
  (
    [
      ['Promoters (9–10)', 9, 10],
      ['Passives (7–8)', 7, 8],
      ['Detractors (0–6)', 0, 6],
    ] as const
  ).map(([label, from, to]) => {
    const within = levels.filter((bar) => Number(bar.label) >= from && Number(bar.label) <= to);
    const sum = (countOf: (bar: Bar) => number): number =>
      within.reduce((total, bar) => total + countOf(bar), 0);
    const groups = ([0, 1] as const).map((group) => sum((bar) => bar.groups?.[group] ?? 0));
    return { label, count: sum(({ count }) => count), groups: groups as [number, number], from, to };
  });
