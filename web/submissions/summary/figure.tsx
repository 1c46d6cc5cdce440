import type { ReactElement } from 'react';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import type { ElementGroup, ElementSummary } from '#submissions/shapes.ts';
import { percent } from './charts.tsx';

/** Formats a mean in the reader's language. */
export const formatMean = (mean: number): string =>
  mean.toLocaleString(undefined, { maximumFractionDigits: 2 });

type Metric = NonNullable<ElementSummary['metric']>;

/** The usual figures of scales, with how each is computed. */
const metrics = {
  nps: {
    title: 'Net promoter score (NPS)',
    how: 'Percentage of promoters (9 and 10) minus percentage of detractors (0 to 6).',
    format: (value) => value.toLocaleString(undefined, { signDisplay: 'exceptZero' }),
  },
  csat: {
    title: 'Customer satisfaction (CSAT)',
    how: 'Percentage of answers on the two highest of five levels.',
    format: (value) => percent.format(value / 100),
  },
  ces: {
    title: 'Customer effort score (CES)',
    how: 'Average of the answers on the scale from 1 to 7.',
    format: formatMean,
  },
} as const satisfies Record<
  Metric['name'],
  { title: string; how: string; format: (value: number) => string }
>;

/** Shows the main number of a scale: its usual figure, or the average. */
export function Figure({
  chart,
  of: { numbers, metric },
}: {
  chart: ElementSummary['chart'];
  of: Pick<ElementGroup, 'numbers' | 'metric'>;
}): ReactElement | null {
  if (!numbers) return null;
  const span = `from ${formatMean(numbers.min)} to ${formatMean(numbers.max)}`;
  if (!metric)
    return (
      <p className="element-figure">
        <strong className="numeric">{formatMean(numbers.mean)}</strong>{' '}
        <span className="soft small">
          {chart === 'rows' && `${pluralize(Number(numbers.mean.toFixed(2)), 'row')} `}on average, {span}
        </span>
      </p>
    );
  const { title, how, format } = metrics[metric.name];
  return (
    <div className="element-figure">
      <p>
        <strong className="numeric">{format(metric.value)}</strong>{' '}
        <span className="small">
          {title}, {formatCount(metric.answers, 'answer')}
        </span>
      </p>
      <p className="soft small">
        {how}
        {metric.name !== 'ces' && ` Average ${formatMean(numbers.mean)}, ${span}.`}
      </p>
    </div>
  );
}
