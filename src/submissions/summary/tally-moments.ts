import type { Bar } from '../shapes.ts';
import { spread, type Tally } from './tally.ts';

/** More months than this are shown as years. */
const mostMonths = 36;

/** How many days lie in each month, or in each year where there are many months. */
export function tallyMonths(): Tally {
  const counts = new Map<string, number>();
  return {
    add(answer) {
      if (typeof answer !== 'string' || !/^\d{4}-\d{2}-/.test(answer)) return;
      const month = answer.slice(0, 7);
      counts.set(month, (counts.get(month) ?? 0) + 1);
    },
    result: () => ({ chart: 'months', bars: monthBars(counts), numbers: null }),
  };
}

/** Every month from the first to the last, or every year of long spans; empty ones too, while they are not too many. */
function monthBars(counts: ReadonlyMap<string, number>): Bar[] {
  const months = [...counts.keys()].sort();
  if (months.length === 0) return [];
  const [first, last] = [monthNumber(months[0]!), monthNumber(months.at(-1)!)];
  if (last - first < mostMonths) {
    return spread(last - first + 1, (index) => {
      const number = first + index;
      const label = `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;
      return { label, count: counts.get(label) ?? 0 };
    });
  }
  const years = Map.groupBy(counts, ([month]) => month.slice(0, 4));
  return [...years]
    .map(([label, entries]) => ({ label, count: entries.reduce((sum, [, count]) => sum + count, 0) }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;

/** How many times of day lie in each hour. */
export function tallyHours(): Tally {
  const counts = Array.from({ length: 24 }, () => 0);
  return {
    add(answer) {
      const hour = typeof answer === 'string' && /^\d{2}:/.test(answer) ? Number(answer.slice(0, 2)) : -1;
      if (counts[hour] !== undefined) counts[hour] += 1;
    },
    result: () => ({
      chart: 'hours',
      bars: counts.map((count, hour) => ({ label: `${String(hour).padStart(2, '0')}:00`, count })),
      numbers: null,
    }),
  };
}
