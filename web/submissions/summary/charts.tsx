import type { CSSProperties, ReactElement, ReactNode } from 'react';
import type { Summary } from '#submissions/shapes.ts';
import { PipedText } from '../../design/author-text.tsx';
import { formatDate } from '../../design/time.tsx';
import { dateDaysAgo, useViewState } from '../view-state.ts';
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
  readonly said: string;
  /** Shown after the number, with less emphasis. */
  readonly beside?: string;
  /** The URL of an image. */
  readonly picture?: string | undefined;
  /** The filter that the row's link applies. */
  readonly narrowed?: LinkFilter | undefined;
};

/** Returns a count with its share of the total, which sets the width of the bar. */
export function countWithShare(count: number, all: number): Pick<HorizontalBar, 'bar' | 'said' | 'beside'> {
  const share = all === 0 ? 0 : count / all;
  return { bar: share, said: count.toLocaleString(), beside: percent.format(share) };
}

/** Horizontal bars with text labels, so that screen readers get the same information. */
export function HorizontalBars({
  label,
  bars,
}: {
  label: string;
  bars: readonly HorizontalBar[];
}): ReactElement {
  return (
    <ul className="lying-bars" aria-label={label}>
      {bars.map(({ label, bar, paler = 0, said, beside, picture, narrowed }, index) => (
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
            {said} {beside !== undefined && <span className="soft">{beside}</span>}
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

type Days = Summary['days'];
type Unit = 'day' | 'week' | 'month';

/** With fewer days, the bars would be too wide. */
const leastDays = 14;
/** The most bars that can be told apart. For longer periods each bar is a week or a month. */
const mostBars = 62;

/** Shows submissions per day, week or month as bars that link to the submissions. */
export function DaysChart({ days }: { days: Days }): ReactElement {
  const [{ from = '', to }] = useViewState();
  const until = to ?? dateDaysAgo(0);
  const [unit, bars] = barsOfPeriod(days, until);
  return (
    <VerticalBars
      label={`Submissions per ${unit}`}
      heads={[heads[unit], 'Completed', 'Incomplete']}
      bars={bars.map(({ first, last, ...counts }) => ({
        ...counts,
        label: unitFormats[unit](first),
        narrowed: { from: first < from ? from : first, to: to !== undefined && to < last ? to : last },
      }))}
    />
  );
}

const heads = { day: 'Day', week: 'Week of', month: 'Month' } as const satisfies Record<Unit, string>;
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const formatFirstDay = (first: string): string => formatDate(`${first}T12:00`);
const unitFormats: Record<Unit, (first: string) => string> = {
  day: formatFirstDay,
  week: formatFirstDay,
  month: (first) => month.format(new Date(first)),
};

/** Returns the day with the most submissions, and their number. */
export function describePeak(days: Days): string {
  const count = (day: Days[number]): number => day.completed + day.incomplete;
  const most = days.reduce((best, day) => (count(day) > count(best) ? day : best));
  return `Peak: ${count(most).toLocaleString()} on ${formatFirstDay(most.day)}.`;
}

const dayMs = 86_400_000;
/** Days are handled as UTC timestamps, so that no time zone shifts them. */
const plus = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

const firstOf: Record<Unit, (day: string) => string> = {
  day: (day) => day,
  week: (day) => plus(day, -((new Date(day).getUTCDay() + 6) % 7)),
  month: (day) => `${day.slice(0, 7)}-01`,
};
const nextOf: Record<Unit, (first: string) => string> = {
  day: (first) => plus(first, 1),
  week: (first) => plus(first, 7),
  month: (first) => firstOf.month(plus(first, 31)),
};

/**
 * Returns a bar for every day, week or month of the period. A bar without submissions is zero rather than
 * missing.
 */
function barsOfPeriod(days: Days, until: string) {
  const last = [days.at(-1)!.day, until].toSorted()[1]!;
  const start = [days[0]!.day, plus(last, 1 - leastDays)].toSorted()[0]!;
  const length = (Date.parse(last) - Date.parse(start)) / dayMs + 1;
  const unit = length <= mostBars ? 'day' : length <= mostBars * 7 ? 'week' : 'month';
  const counted = Map.groupBy(days, ({ day }) => firstOf[unit](day));
  const bars = [];
  for (let first = firstOf[unit](start); first <= last; first = nextOf[unit](first)) {
    const within = counted.get(first) ?? [];
    const sum = (of: 'completed' | 'incomplete') => within.reduce((total, day) => total + day[of], 0);
    bars.push({
      first,
      last: plus(nextOf[unit](first), -1),
      count: sum('completed'),
      paler: sum('incomplete'),
    });
  }
  return [unit, bars] as const;
}
