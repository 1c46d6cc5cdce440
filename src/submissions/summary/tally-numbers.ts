import type { ElementSummary } from '../shapes.ts';
import { addTo, type Spanned, spread, type Tally } from './tally.ts';

/** How many rows submissions have. */
export function tallyRows(): Tally {
  const rows = tallyNumbers();
  return {
    add: (answer) => rows.add(Array.isArray(answer) ? answer.length : undefined),
    result: () => ({ ...rows.result(), chart: 'rows' }),
  };
}

/** The numbers in bars of one width, with the least, the greatest and the mean. */
export function tallyNumbers(): Tally {
  const numbers: number[] = [];
  return {
    add(answer) {
      if (typeof answer === 'number' && Number.isFinite(answer)) numbers.push(answer);
    },
    result: () => ({ chart: 'histogram', ...histogram(numbers) }),
  };
}

/** So many different whole numbers get a bar each: a scale from 0 to 10, a number of children. */
const wholeBars = 16;
const aimedBars = 10;
/** (0.25 - 0.1) / 0.05 is 2.9999999999999996: what is that near to the next bar belongs to it. */
const rounding = 1e-9;

function histogram(numbers: readonly number[]): Pick<ElementSummary, 'bars' | 'numbers'> {
  if (numbers.length === 0) return { bars: [], numbers: null };
  let [min, max, sum] = [Infinity, -Infinity, 0];
  for (const number of numbers) {
    min = Math.min(min, number);
    max = Math.max(max, number);
    sum += number / numbers.length;
  }
  const isWhole = max - min < wholeBars && numbers.every((number) => Number.isInteger(number));
  const width = isWhole ? 1 : roundWidth((max - min) / aimedBars);
  const start = Math.floor(min / width) * width;
  const counted: Spanned<number>[] = [];
  for (const number of numbers) {
    const bar = Math.max(0, Math.floor((number - start) / width + rounding));
    addTo((counted[bar] ??= { count: 0 }), number);
  }
  // Whole numbers belong to one bar alone, and so say its ends.
  const last = numbers.every((number) => Number.isInteger(number)) && width > 1 ? width - 1 : width;
  const labelAt = (bar: number): string => {
    const from = start + bar * width;
    return isWhole ? String(from) : `${plain(from)} – ${plain(from + last)}`;
  };
  return {
    bars: spread(counted.length, (bar) => ({ label: labelAt(bar), ...(counted[bar] ?? { count: 0 }) })),
    numbers: { min, max, mean: sum },
  };
}

/** The next 1, 2 or 5 times a power of ten, so that bars begin at round numbers. */
function roundWidth(width: number): number {
  if (!(width > 0) || !Number.isFinite(width)) return 1;
  const power = 10 ** Math.floor(Math.log10(width));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= width) ?? 10;
  return step * power;
}

/** Without the last digits, in which sums of tenths go wrong. */
const plain = (number: number): string => String(Number(number.toPrecision(10)));
