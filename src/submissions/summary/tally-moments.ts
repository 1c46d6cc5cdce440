import type { Bar } from '../shapes.ts';
import { addTo, type Spanned, spread, type Tally } from './tally.ts';

/** More months than this are shown as years. */
const mostMonths = 36;

/** How many days lie in each month, or in each year where there are many months. */
export function tallyMonths(): Tally {
  const counts = new Map<string, Spanned<string>>();
  return {
    add(answer) {
      if (typeof answer !== 'string' || !/^\d{4}-\d{2}-/.test(answer)) return;
      const month = answer.slice(0, 7);
      const counted = counts.get(month) ?? { count: 0 };
      counts.set(month, counted);
      addTo(counted, answer);
    },
    result: () => ({ chart: 'months', bars: monthBars(counts), numbers: null }),
  };
}

/** Every month from the first to the last, or every year of long spans; empty ones too, while they are not too many. */
function monthBars(counts: ReadonlyMap<string, Spanned<string>>): Bar[] {
  const months = [...counts.keys()].sort();
  if (months.length === 0) return [];
  const [first, last] = [monthNumber(months[0]!), monthNumber(months.at(-1)!)];
  if (last - first < mostMonths) {
    return spread(last - first + 1, (index) => {
      const number = first + index;
      const label = `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;
      return { label, ...(counts.get(label) ?? { count: 0 }) };
    });
  }
  const years = Map.groupBy(months, (month) => month.slice(0, 4));
  return [...years].map(([label, within]) => {
    const each = within.map((month) => counts.get(month)!);
    const count = each.reduce((sum, one) => sum + one.count, 0);
    return { label, count, from: each[0]!.from!, to: each.at(-1)!.to! };
  });
}

const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;

/** How many times of day lie in each hour. */
export function tallyHours(): Tally {
  const counts = Array.from({ length: 24 }, (): Spanned<string> => ({ count: 0 }));
  return {
    add(answer) {
      const hour =
        typeof answer === 'string' && /^\d{2}:/.test(answer) ? counts[Number(answer.slice(0, 2))] : undefined;
      if (hour) addTo(hour, answer as string);
    },
    result: () => ({
      chart: 'hours',
      bars: counts.map((counted, hour) => ({ label: `${String(hour).padStart(2, '0')}:00`, ...counted })),
      numbers: null,
    }),
  };
}
