import 'uplot/dist/uPlot.min.css';
import { type ReactElement, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { Summary } from '#submissions/shapes.ts';
import { sayDay } from '../../design/time.tsx';
import { useScheme } from '../../shell/theme.ts';

type Days = Summary['days'];

const height = 240;
const daySeconds = 86_400;
const sayTick = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Submissions per day as curves. */
export function DaysChart({ days, until }: { days: Days; until: string }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useScheme();
  useEffect(() => {
    const element = place.current!;
    const chart = new uPlot(options(element), columnsOf(fillDays(days, until)), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // A canvas does not follow the theme by itself.
  }, [days, until, scheme]);
  const total = days.reduce((sum, day) => sum + day.completed + day.incomplete, 0);
  return (
    <div
      ref={place}
      className="days-chart"
      role="img"
      aria-label={`${total.toLocaleString()} submissions over time, most on ${sayMost(days)}. The numbers follow as a table.`}
    />
  );
}

function sayMost(days: Days): string {
  const most = days.reduce((best, day) =>
    day.completed + day.incomplete > best.completed + best.incomplete ? day : best,
  );
  return `${sayDay(`${most.day}T12:00`)} with ${(most.completed + most.incomplete).toLocaleString()}`;
}

/** A curve of fewer days would be a dot in an axis of years. */
const leastDays = 7;

/** Every day from the first to the end of the span: a day without submissions is a zero, not a gap. */
function fillDays(days: Days, until: string): Days {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return [];
  const end = Math.max(Date.parse(last.day), Date.parse(until));
  const start = Math.min(Date.parse(first.day), end - (leastDays - 1) * daySeconds * 1000);
  const filled: Days = [];
  for (let time = start; time <= end; time += daySeconds * 1000) {
    const day = new Date(time).toISOString().slice(0, 10);
    filled.push(byDay.get(day) ?? { day, completed: 0, incomplete: 0 });
  }
  return filled;
}

const columnsOf = (days: Days): uPlot.AlignedData => [
  days.map(({ day }) => Date.parse(day) / 1000),
  days.map(({ completed }) => completed),
  days.map(({ incomplete }) => incomplete),
];

function options(element: HTMLElement): uPlot.Options {
  const colour = (name: string): string => resolveColour(element, name);
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  const line = {
    width: 2,
    points: { size: 6 },
    value: (_chart: uPlot, count: number | null) => count?.toLocaleString() ?? '',
  };
  return {
    width: element.clientWidth,
    height,
    // Days are written as moments in UTC, and read as such: no zone shifts them.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        space: 80,
        values: (_chart, moments) => moments.map((seconds) => sayTick.format(new Date(seconds * 1000))),
        incrs: [1, 2, 7, 14, 30, 60, 90, 180, 365].map((count) => count * daySeconds),
      },
      {
        ...axis,
        size: (_chart, labels) => axisWidth(labels),
        incrs: [
          1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
          500_000, 1_000_000,
        ],
      },
    ],
    series: [
      {
        label: 'Day',
        value: (_chart, seconds) =>
          seconds == null ? '' : new Date(seconds * 1000).toISOString().slice(0, 10),
      },
      { label: 'Completed', stroke: colour('--accent'), fill: colour('--accent-tint'), ...line },
      { label: 'Incomplete', stroke: colour('--soft'), dash: [6, 4], ...line },
    ],
  };
}

/** Room for the longest number: a label of 12 px has digits of 7, and stands 20 from the curve. */
const axisWidth = (labels: readonly string[] | null): number =>
  Math.max(48, 20 + 7 * Math.max(0, ...(labels ?? []).map((label) => label.length)));

/** What a token is in this theme: a canvas takes no variables. */
function resolveColour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
