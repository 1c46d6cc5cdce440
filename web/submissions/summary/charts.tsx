import type { CSSProperties, ReactElement, ReactNode } from 'react';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import type { Bar, ElementGroup, ElementSummary } from '#submissions/shapes.ts';
import { PipedText } from '../../design/author-text.tsx';
import { type LinkFilter, SubmissionsLink } from './bar-links.tsx';

/** Shows the numbers of a chart as a collapsed table. The first cell of each row is its header. */
export function ChartDataTable({
  caption,
  heads,
  rows,
  isOpen = false,
}: {
  caption: string;
  isOpen?: boolean;
  heads: readonly string[];
  rows: readonly (readonly [name: ReactNode, ...cells: ReactNode[]])[];
}): ReactElement {
  return (
    <details className="data-details" open={isOpen}>
      <summary>
        Show as a table<span className="unseen">: {caption}</span>
      </summary>
      <div className="data-table" role="region" aria-label={`Table: ${caption}`} tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              {heads.map((head, index) => (
                <th key={head} scope="col" className={index > 0 ? 'table-number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...cells], place) => (
              <tr key={place}>
                <th scope="row">{name}</th>
                {cells.map((cell, index) => (
                  <td key={heads[index + 1]} className="table-number">
                    {typeof cell === 'number' ? cell.toLocaleString() : cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Formats a share in the reader's language: `12%`. */
export const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

const percentage = (share: number): string => `${Math.min(100, share * 100)}%`;

/** A row of a chart: a label, a number, and a bar below them. */
export type HorizontalBar = {
  readonly label: string;
  /** The filled part of the width, from 0 to 1. `paler` is where a lighter part ends. */
  readonly bar: number;
  readonly paler?: number;
  readonly text: string;
  /** Shown after the number, with less emphasis. */
  readonly beside?: string;
  /** The URL of an image. */
  readonly picture?: string | undefined;
  /** The filter that the row's link applies. */
  readonly narrowed?: LinkFilter | undefined;
};

/** Returns a count with its share of the total, which sets the width of the bar. */
export function countWithShare(count: number, all: number): Pick<HorizontalBar, 'bar' | 'text' | 'beside'> {
  const share = all === 0 ? 0 : count / all;
  return { bar: share, text: count.toLocaleString(), beside: percent.format(share) };
}

type HorizontalBarsProps = { label: string; bars: readonly HorizontalBar[] };

/** Horizontal bars with text labels, so that screen readers get the same information. */
export function HorizontalBars({ label, bars }: HorizontalBarsProps): ReactElement {
  return (
    <ul className="lying-bars" aria-label={label}>
      {bars.map(({ label, bar, paler = 0, text, beside, picture, narrowed }, index) => (
        // Two options can have the same label.
        <li key={`${index} ${label}`} className="lying-bar">
          {picture !== undefined && <img className="lying-picture" src={picture} alt="" />}
          {narrowed ? (
            <SubmissionsLink className="lying-label" narrowed={narrowed}>
              <PipedText text={label} />
            </SubmissionsLink>
          ) : (
            <span className="lying-label">
              <PipedText text={label} />
            </span>
          )}
          <span className="lying-number numeric small">
            {text} {beside !== undefined && <span className="soft">{beside}</span>}
          </span>
          <svg className="lying-svg" height="12" focusable="false" aria-hidden="true">
            <rect className="bar-ground" width="100%" height="12" rx="6" />
            {paler > bar && <rect className="bar-paler" width={percentage(paler)} height="12" rx="6" />}
            {bar > 0 && <rect className="bar" width={percentage(bar)} height="12" rx="6" />}
          </svg>
        </li>
      ))}
    </ul>
  );
}

type VerticalBar = {
  readonly label: string;
  readonly count: number;
  /** Another count, stacked on top. */
  readonly paler?: number;
  /** The filter that the bar's link applies. */
  readonly narrowed?: LinkFilter | undefined;
};

/**
 * Vertical bars along a scale that is labeled at both ends: numbers, months or days. A table below shows the
 * values, because a bar may be too narrow to hover over.
 */
export function VerticalBars({
  label,
  heads,
  bars,
}: {
  label: string;
  /** The names of the scale, of the count, and of the stacked count. */
  heads: readonly [scale: string, counted: string, ...paler: string[]];
  bars: readonly VerticalBar[];
}): ReactElement {
  const most = Math.max(1, ...bars.map(({ count, paler = 0 }) => count + paler));
  const [, first, second] = heads;
  return (
    <>
      <BarFrame
        top={
          <>
            {most.toLocaleString()}
            {second !== undefined && (
              <span className="standing-key">
                <span className="standing-count" /> {first} <span className="standing-paler" /> {second}
              </span>
            )}
          </>
        }
        labels={bars.map(({ label }) => label)}
      >
        {bars.map(({ label, count, paler = 0, narrowed }) => {
          const words = `${label}: ${(count + paler).toLocaleString()}`;
          const drawn = (
            <>
              <span className="standing-paler" style={heightOf(paler / most)} />
              <span className="standing-count" style={heightOf(count / most)} />
            </>
          );
          return (
            <span key={label} className="standing-bar" title={words}>
              {narrowed ? (
                <SubmissionsLink isDoubled narrowed={narrowed}>
                  {drawn}
                </SubmissionsLink>
              ) : (
                drawn
              )}
            </span>
          );
        })}
      </BarFrame>
      <ChartDataTable
        caption={label}
        heads={heads}
        rows={bars.map(({ label, count, paler, narrowed }) => [
          narrowed ? <SubmissionsLink narrowed={narrowed}>{label}</SubmissionsLink> : label,
          count,
          ...(paler === undefined ? [] : [paler]),
        ])}
      />
    </>
  );
}

export const heightOf = (share: number): CSSProperties => ({ blockSize: `${share * 100}%` });

/** The frame of vertical bars: the largest value above, and the ends and middle of the scale below. */
export const BarFrame = ({
  top,
  labels,
  children,
}: {
  top: ReactNode;
  labels: readonly string[];
  children: ReactNode;
}): ReactElement => (
  <div className="standing-bars" aria-hidden="true">
    <span className="spread soft small numeric">{top}</span>
    <div className="standing-plot">{children}</div>
    <span className="standing-scale soft small numeric">
      <span>{labels[0]}</span>
      {labels.length > 2 && <span>{labels[Math.floor(labels.length / 2)]}</span>}
      {labels.length > 1 && <span>{labels.at(-1)}</span>}
    </span>
  </div>
);

/** Up to this many bars are drawn horizontally, because vertical bars would be too wide. */
export const fewBars = 7;

/** The most bars of a long list that are shown at first. */
const mostFirst = 10;

/** The number of bars to show at first: in a list that is sorted by count, the most frequent ones. */
export const countFirst = ({ order, bars }: Pick<ElementSummary, 'order' | 'bars'>): number =>
  order === 'count' ? Math.min(mostFirst, bars.filter(({ count }) => count > 0).length) : bars.length;

/** Shows the first items of a list, and the others on request. */
export function LongList<Item>({
  label,
  items,
  first,
  draw,
}: {
  label: string;
  items: readonly Item[];
  first: number;
  draw: (items: readonly Item[]) => ReactElement;
}): ReactElement {
  const others = items.slice(first);
  if (others.length === 0) return draw(items);
  return (
    <>
      {draw(items.slice(0, first))}
      <details className="data-details more-bars">
        <summary>
          Show {others.length.toLocaleString()} more<span className="unseen">: {label}</span>
        </summary>
        {draw(others)}
      </details>
    </>
  );
}

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
  pass_rate: {
    short: 'passed',
    how: 'Pass rate: percentage of scores that reach the pass mark.',
    format: (value) => percent.format(value / 100),
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
