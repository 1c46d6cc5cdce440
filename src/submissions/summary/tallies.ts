import { elements, type ElementType } from '#ast/elements.ts';
import { isRecord, own } from '#ast/json.ts';
import type { SummaryKind } from '#ast/types/definition.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { Bar, ElementSummary } from '../shapes.ts';

/** Adds up the answers to one question, one at a time, in memory that does not grow with free text. */
type Tally = {
  add(answer: unknown): void;
  result(): Pick<ElementSummary, 'chart' | 'bars' | 'rows' | 'numbers' | 'score'>;
};

type Asked = { type: ElementType } & Pick<Column, 'options' | 'option_labels' | 'rows'>;

const tallies: Record<SummaryKind, (asked: Asked) => Tally> = {
  texts: countOnly('texts'),
  numbers: tallyNumbers,
  months: tallyMonths,
  hours: tallyHours,
  options: tallyOptions,
  levels: tallyLevels,
  recommendation: tallyRecommendation,
  ranking: tallyRanking,
  grid: tallyGrid,
  agreed: tallyAgreed,
  yes_no: () => tallyOptions({ options: ['Yes', 'No'], option_labels: {}, rows: [] }),
  files: tallyFiles,
  rows: tallyRows,
  nothing: countOnly('count'),
};

/** A tally for the answers to a question. */
export const openTally = (asked: Asked): Tally => tallies[elements[asked.type].summary](asked);

function countOnly(chart: 'texts' | 'count'): () => Tally {
  return () => ({ add() {}, result: () => ({ chart, bars: [], numbers: null }) });
}

/** Answers that were never an option (an older version's) are counted up to so many different ones. */
const otherOptions = 20;

/** One bar an option in the form's order, also for those that nobody chose; what is no option any more comes last. */
function tallyOptions(asked: Omit<Asked, 'type'>): Tally {
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

/** An option as people read it, and what answers keep of it, where that is another text. */
function barOf(asked: Omit<Asked, 'type'>, option: string): Pick<Bar, 'label' | 'option'> {
  const label = optionLabel(asked, option);
  return { label, ...(label !== option && { option }) };
}

/** How many agreed; who did not gave no answer. */
function tallyAgreed(asked: Asked): Tally {
  const options = tallyOptions({ ...asked, options: ['Agreed'] });
  return {
    add: (answer) => isRecord(answer) && options.add('Agreed'),
    result: () => options.result(),
  };
}

/** One bar a level, also for those that nobody chose, and what they come to. */
function tallyLevels(asked: Asked): Tally {
  const [levels, numbers] = [tallyOptions(asked), tallyNumbers()];
  return {
    add(answer) {
      if (typeof answer !== 'number') return;
      levels.add(String(answer));
      numbers.add(answer);
    },
    result: () => ({ ...levels.result(), chart: 'levels', numbers: numbers.result().numbers }),
  };
}

/** From 0 to 10, a scale says how many recommend and how many advise against; of other lengths it is levels. */
function tallyRecommendation(asked: Asked): Tally {
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

/** How often each option came first, and its mean place, the best first. */
function tallyRanking(asked: Asked): Tally {
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

/** The options of each row. */
function tallyGrid(asked: Asked): Tally {
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
      rows: [...counts.values()].map(({ label, answered, tally }) => ({
        label,
        answered,
        bars: tally.result().bars,
      })),
      numbers: null,
    }),
  };
}

/** More months than this are shown as years. */
const mostMonths = 36;

function tallyMonths(): Tally {
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
const spread = (length: number, make: (index: number) => Bar): Bar[] =>
  Array.from({ length }, (_, index) => make(index));

function tallyHours(): Tally {
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

/** Kinds of files, by the content type that was recognised when they came. */
const fileKinds: readonly [pattern: RegExp, label: string][] = [
  [/^image\//, 'Images'],
  [/^application\/pdf$/, 'PDF'],
  [/^video\//, 'Videos'],
  [/^audio\//, 'Sound'],
  [/^text\//, 'Texts'],
];

/** How many files of each kind there are; kinds that nobody sent are left out. */
function tallyFiles(): Tally {
  const counts = new Map<string, number>();
  return {
    add(answer) {
      for (const file of Array.isArray(answer) ? (answer as readonly unknown[]) : []) {
        const type = isRecord(file) ? String(own(file, 'content_type')) : '';
        const label = fileKinds.find(([pattern]) => pattern.test(type))?.[1] ?? 'Other files';
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
    },
    result: () => ({
      chart: 'files',
      bars: [...counts].map(([label, count]) => ({ label, count })).sort((a, b) => b.count - a.count),
      numbers: null,
    }),
  };
}

/** How many rows submissions have. */
function tallyRows(): Tally {
  const rows = tallyNumbers();
  return {
    add: (answer) => rows.add(Array.isArray(answer) ? answer.length : undefined),
    result: () => ({ ...rows.result(), chart: 'rows' }),
  };
}

function tallyNumbers(): Tally {
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
  const counts: number[] = [];
  for (const number of numbers) {
    const bar = Math.max(0, Math.floor((number - start) / width + rounding));
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  const labelAt = (bar: number): string => {
    const from = start + bar * width;
    return isWhole ? String(from) : `${plain(from)} – ${plain(from + width)}`;
  };
  return {
    bars: spread(counts.length, (bar) => ({ label: labelAt(bar), count: counts[bar] ?? 0 })),
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
