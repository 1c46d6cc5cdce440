import { isRecord } from '#ast/basics/json.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { Bar, ElementSummary } from '../shapes.ts';

/**
 * Summarizes the answers to one question, one answer at a time. Its memory use does not grow with free text.
 */
export type Tally = {
  add(answer: unknown): void;
  result(): Pick<ElementSummary, 'chart' | 'bars' | 'rows' | 'numbers' | 'score'>;
};

/** The question, as in its column. */
export type SummarizedQuestion = { type: ElementType } & Pick<Column, 'options' | 'option_labels' | 'rows'>;

/** Counts a sortable answer in its bar, and extends the bar's range to include it. */
export function addToBar<Answer extends number | string>(bar: SpannedBar<Answer>, answer: Answer): void {
  bar.count += 1;
  if (bar.from === undefined || answer < bar.from) bar.from = answer;
  if (bar.to === undefined || answer > bar.to) bar.to = answer;
}

/** A bar without its label, while counting. */
export type SpannedBar<Answer extends number | string> = { count: number; from?: Answer; to?: Answer };

/** Returns `length` bars, each created from its index. */
export const makeBars = (length: number, make: (index: number) => Bar): Bar[] =>
  Array.from({ length }, (_, index) => make(index));

/** Counts answers by their number of rows. */
export function tallyRows(): Tally {
  const rows = tallyNumbers();
  return {
    add: (answer) => rows.add(Array.isArray(answer) ? answer.length : undefined),
    result: () => ({ ...rows.result(), chart: 'rows' }),
  };
}

/** Counts numbers in bars of equal width, with minimum, maximum and mean. */
export function tallyNumbers(): Tally {
  const numbers: number[] = [];
  return {
    add(answer) {
      if (typeof answer === 'number' && Number.isFinite(answer)) numbers.push(answer);
    },
    result: () => ({ chart: 'histogram', ...histogram(numbers) }),
  };
}

/** Up to this range, each whole number gets its own bar: a scale from 0 to 10, a number of children. */
const wholeBars = 16;
const aimedBars = 10;
/** (0.25 - 0.1) / 0.05 is 2.9999999999999996: a value this close to the next bar belongs to it. */
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
  const counted: SpannedBar<number>[] = [];
  for (const number of numbers) {
    const bar = Math.max(0, Math.floor((number - start) / width + rounding));
    addToBar((counted[bar] ??= { count: 0 }), number);
  }
  // A whole number belongs to one bar only, so the labels of bars do not overlap.
  const last = numbers.every((number) => Number.isInteger(number)) && width > 1 ? width - 1 : width;
  const labelAt = (bar: number): string => {
    const from = start + bar * width;
    return isWhole ? String(from) : `${plain(from)} – ${plain(from + last)}`;
  };
  return {
    bars: makeBars(counted.length, (bar) => ({ label: labelAt(bar), ...(counted[bar] ?? { count: 0 }) })),
    numbers: { min, max, mean: sum },
  };
}

/** Rounds up to 1, 2 or 5 times a power of ten, so that bars start at round numbers. */
function roundWidth(width: number): number {
  if (!(width > 0) || !Number.isFinite(width)) return 1;
  const power = 10 ** Math.floor(Math.log10(width));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= width) ?? 10;
  return step * power;
}

/** Formats a number without its last digits, which are inexact in sums of tenths. */
const plain = (number: number): string => String(Number(number.toPrecision(10)));

/**
 * The maximum number of different answers to count that are not current options, such as options from older
 * versions.
 */
const otherOptions = 20;

/**
 * Counts options, with one bar each in the form's order, including options without answers. Previous options
 * come last.
 */
export function tallyOptions(asked: Omit<SummarizedQuestion, 'type'>): Tally {
  const { options } = asked;
  const counts = new Map(options.map((option) => [option, 0]));
  const addOne = (option: string): void => {
    const count = counts.get(option);
    if (count !== undefined || counts.size < options.length + otherOptions)
      counts.set(option, (count ?? 0) + 1);
  };
  return {
    add(answer) {
      if (typeof answer === 'boolean') addOne(answer ? 'Yes' : 'No');
      for (const choice of Array.isArray(answer) ? answer : [answer])
        if (typeof choice === 'string') addOne(choice);
    },
    result: () => ({
      chart: 'options',
      bars: [...counts].map(([option, count]) => ({ ...barOf(asked, option), count })),
      numbers: null,
    }),
  };
}

/** Returns the label of an option, and its stored value if it differs. */
function barOf(asked: Omit<SummarizedQuestion, 'type'>, option: string): Pick<Bar, 'label' | 'option'> {
  const label = optionLabel(asked, option);
  return { label, ...(label !== option && { option }) };
}

/** Counts consents or signatures; a submission without one has no answer. */
export function tallyConsentsOrSignatures({ type }: SummarizedQuestion): Tally {
  let count = 0;
  return {
    add(answer) {
      if (isRecord(answer) || Array.isArray(answer)) count += 1;
    },
    result: () => ({
      chart: 'given',
      bars: [{ label: type === 'consent' ? 'Agreed' : 'Signed', count }],
      numbers: null,
    }),
  };
}

/** Counts levels, with one bar each, including levels without answers, and computes the mean. */
export function tallyLevels(asked: SummarizedQuestion): Tally {
  const [levels, numbers] = [tallyOptions(asked), tallyNumbers()];
  return {
    add(answer) {
      if (typeof answer !== 'number') return;
      levels.add(String(answer));
      numbers.add(answer);
    },
    result() {
      const bars = levels.result().bars.map(atLevel);
      return { chart: 'levels', bars, numbers: numbers.result().numbers };
    },
  };
}

/** Gives the bar of a level its number as a range, by which its answers are found. */
function atLevel(bar: Bar): Bar {
  const level = Number(bar.label);
  return bar.count > 0 ? { ...bar, from: level, to: level } : bar;
}

/**
 * Summarizes a scale from 0 to 10 by the numbers of promoters and detractors; other scales are summarized by
 * level.
 */
export function tallyRecommendation(asked: SummarizedQuestion): Tally {
  const levels = tallyLevels(asked);
  if (asked.options[0] !== '0' || asked.options.at(-1) !== '10') return levels;
  return {
    add: (answer) => levels.add(answer),
    result() {
      const { bars, numbers } = levels.result();
      const countOf = (from: number, to: number): number =>
        bars.reduce(
          (sum, { label, count }) => (Number(label) >= from && Number(label) <= to ? sum + count : sum),
          0,
        );
      const all = countOf(0, 10);
      const score = all === 0 ? undefined : Math.round((100 * (countOf(9, 10) - countOf(0, 6))) / all);
      return { chart: 'recommendation', bars, numbers, ...(score !== undefined && { score }) };
    },
  };
}

/** Counts how often each option was ranked first, with its mean rank; best first. */
export function tallyRanking(asked: SummarizedQuestion): Tally {
  const found = new Map(asked.options.map((option) => [option, { first: 0, places: 0, count: 0 }]));
  return {
    add(answer) {
      for (const [index, option] of (Array.isArray(answer) ? (answer as readonly unknown[]) : []).entries()) {
        const of = typeof option === 'string' ? found.get(option) : undefined;
        if (!of) continue;
        of.first += Number(index === 0);
        of.places += index + 1;
        of.count += 1;
      }
    },
    result: () => ({
      chart: 'ranking',
      bars: [...found]
        .map(([option, { first, places, count }]) => ({
          ...barOf(asked, option),
          count: first,
          ...(count > 0 && { mean: places / count }),
        }))
        .sort((a, b) => (a.mean ?? Infinity) - (b.mean ?? Infinity)),
      numbers: null,
    }),
  };
}

/** Counts the options of each row. */
export function tallyMatrix(asked: SummarizedQuestion): Tally {
  const counts = new Map(
    asked.rows.map(({ id, label }) => [id, { label, answered: 0, tally: tallyOptions(asked) }]),
  );
  return {
    add(answer) {
      for (const [id, cell] of Object.entries(isRecord(answer) ? answer : {})) {
        const row = counts.get(id);
        if (!row) continue;
        row.answered += 1;
        row.tally.add(cell);
      }
    },
    result: () => ({
      chart: 'grid',
      bars: [],
      rows: [...counts].map(([id, { label, answered, tally }]) => ({
        id,
        label,
        answered,
        bars: tally.result().bars,
      })),
      numbers: null,
    }),
  };
}
