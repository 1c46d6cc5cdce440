import type { ReactElement } from 'react';
import type { Summary } from '#submissions/shapes.ts';
import { sayDay } from '../../design/time.tsx';
import { StandingBars } from './standing-bars.tsx';
import { dayBefore, useViewState } from '../view-state.ts';

type Days = Summary['days'];
type Unit = 'day' | 'week' | 'month';

/** Fewer days would be bars like walls. */
const leastDays = 14;
/** So many bars are told from each other; of a longer time each is a week, or a month. */
const mostBars = 62;

/** Submissions per day, week or month, as bars that lead to them. */
export function DaysChart({ days }: { days: Days }): ReactElement {
  const [{ from = '', to }] = useViewState();
  const until = to ?? dayBefore(0);
  const [unit, bars] = gather(days, until);
  return (
    <StandingBars
      label={`Submissions per ${unit}`}
      heads={[heads[unit], 'Completed', 'Incomplete']}
      bars={bars.map(({ first, last, ...counts }) => ({
        ...counts,
        label: sayUnit[unit](first),
        narrowed: { from: first < from ? from : first, to: to !== undefined && to < last ? to : last },
      }))}
    />
  );
}

const heads = { day: 'Day', week: 'Week from', month: 'Month' } as const satisfies Record<Unit, string>;
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const sayFirst = (first: string): string => sayDay(`${first}T12:00`);
const sayUnit: Record<Unit, (first: string) => string> = {
  day: sayFirst,
  week: sayFirst,
  month: (first) => month.format(new Date(first)),
};

/** On which day most came, and how many. */
export function sayMost(days: Days): string {
  const count = (day: Days[number]): number => day.completed + day.incomplete;
  const most = days.reduce((best, day) => (count(day) > count(best) ? day : best));
  return `Most on ${sayFirst(most.day)}: ${count(most).toLocaleString()}.`;
}

const dayMs = 86_400_000;
/** Days are written as moments in UTC, and counted as such: no zone shifts them. */
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

/** A bar for each day from the first to the end of the span, or for each week or month: without submissions it is a zero, not a gap. */
function gather(days: Days, until: string) {
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
