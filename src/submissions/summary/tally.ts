import { isRecord } from '#ast/basics/json.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { type Column, optionLabel } from '../columns.ts';
import type { Bar, ElementGroup, ElementSummary } from '../shapes.ts';

/** How often a submission counts in each of two groups: 1 if it belongs to the group, otherwise 0. */
export type InGroups = readonly [first: number, second: number];

/**
 * Summarizes the answers to one question, one answer at a time. Its memory use does not grow with free text.
 */
export type Tally = {
  /** @param groups with a comparison, the groups of the submission. */
  add(answer: unknown, groups?: InGroups): void;
  result(): Pick<ElementSummary, 'chart' | 'bars' | 'rows' | 'numbers' | 'score' | 'metric'> & {
    /** Default: `form`. */
    order?: ElementSummary['order'];
    groups?: [GroupNumbers, GroupNumbers];
  };
};
export type GroupNumbers = Pick<ElementGroup, 'numbers' | 'metric'>;

/** The question, as in its column. */
export type SummarizedQuestion = { type: ElementType } & Pick<
  Column,
  'options' | 'option_labels' | 'rows' | 'pass_mark'
>;

/** A count, while counting. */
export type Counted = Pick<Bar, 'count' | 'groups'>;

const startCount = (): Counted => ({ count: 0 });

export function countOne(counted: Counted, groups?: InGroups): void {
  counted.count += 1;
  if (groups) counted.groups = addGroups(counted.groups, groups);
}

export const addGroups = (to: InGroups = [0, 0], groups: InGroups = [0, 0]): [number, number] => [
  to[0] + groups[0],
  to[1] + groups[1],
];

/** Counts a sortable answer in its bar, and extends the bar's range to include it. */
export function addToBar<Answer extends number | string>(
  bar: SpannedBar<Answer>,
  answer: Answer,
  groups?: InGroups,
): void {
  countOne(bar, groups);
  if (bar.from === undefined || answer < bar.from) bar.from = answer;
  if (bar.to === undefined || answer > bar.to) bar.to = answer;
}

/** A bar without its label, while counting. */
export type SpannedBar<Answer extends number | string> = Counted & { from?: Answer; to?: Answer };

/** Returns `length` bars, each created from its index. */
export const makeBars = (length: number, make: (index: number) => Bar): Bar[] =>
  Array.from({ length }, (_, index) => make(index));

/** Counts answers by their number of rows. */
export function tallyRows(): Tally {
  const rows = tallyNumbers();
  return {
    add: (answer, groups) => rows.add(Array.isArray(answer) ? answer.length : undefined, groups),
    result: () => ({ ...rows.result(), chart: 'rows' }),
  };
}

/** Counts numbers in bars of equal width, with minimum, maximum and mean, and the pass rate of a quiz score. */
export function tallyNumbers({ pass_mark: mark }: Pick<SummarizedQuestion, 'pass_mark'> = {}): Tally {
  const numbers: number[] = [];
  /** With a comparison, the groups of each number. */
  const groupsOf: InGroups[] = [];
  return {
    add(answer, groups) {
      if (typeof answer !== 'number' || !Number.isFinite(answer)) return;
      numbers.push(answer);
      if (groups) groupsOf.push(groups);
    },
    result() {
      const passRate = (of: readonly number[]): { metric?: Metric } => {
        if (mark === undefined || of.length === 0) return {};
        const value = round((100 * of.filter((number) => number >= mark).length) / of.length);
        return { metric: { name: 'pass_rate', value, answers: of.length } };
      };
      const inGroup = (group: 0 | 1): GroupNumbers => {
        const its = numbers.filter((_, index) => groupsOf[index]![group] === 1);
        return { numbers: spanOf(its), ...passRate(its) };
      };
      return {
        chart: 'histogram',
        ...histogram(numbers, groupsOf),
        ...passRate(numbers),
        ...(groupsOf.length > 0 && { groups: [inGroup(0), inGroup(1)] }),
      };
    },
  };
}

function spanOf(numbers: readonly number[]): ElementSummary['numbers'] {
  if (numbers.length === 0) return null;
  let [min, max, mean] = [Infinity, -Infinity, 0];
  for (const number of numbers) {
    min = Math.min(min, number);
    max = Math.max(max, number);
    mean += number / numbers.length;
  }
  return { min, max, mean };
}

/** Up to this range, each whole number gets its own bar: a scale from 0 to 10, a number of children. */
const wholeBars = 16;
const aimedBars = 10;
/** (0.25 - 0.1) / 0.05 is 2.9999999999999996: a value this close to the next bar belongs to it. */
const rounding = 1e-9;

function histogram(
  numbers: readonly number[],
  groupsOf: readonly InGroups[],
): Pick<ElementSummary, 'bars' | 'numbers'> {
  const span = spanOf(numbers);
  if (!span) return { bars: [], numbers: null };
  const { min, max } = span;
  const isWhole = max - min < wholeBars && numbers.every((number) => Number.isInteger(number));
  const width = isWhole ? 1 : roundWidth((max - min) / aimedBars);
  const start = Math.floor(min / width) * width;
  const counted: SpannedBar<number>[] = [];
  for (const [index, number] of numbers.entries()) {
    const bar = Math.max(0, Math.floor((number - start) / width + rounding));
    addToBar((counted[bar] ??= { count: 0 }), number, groupsOf[index]);
  }
  // A whole number belongs to one bar only, so the labels of bars do not overlap.
  const last = numbers.every((number) => Number.isInteger(number)) && width > 1 ? width - 1 : width;
  const labelAt = (bar: number): string => {
    const from = start + bar * width;
    return isWhole ? String(from) : `${plain(from)} – ${plain(from + last)}`;
  };
  return {
    bars: makeBars(counted.length, (bar) => ({ label: labelAt(bar), ...(counted[bar] ?? { count: 0 }) })),
    numbers: span,
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

/** The maximum number of options that are read in the order of the form, like the months of a year. */
const mostInOrder = 12;

/** Whether every label has a number, and the numbers only rise or only fall: years, ages, prices. */
function areNumbered(labels: readonly string[]): boolean {
  const numbers = labels.map((label) => Number(/\d+(\.\d+)?/.exec(label)?.[0]));
  const isSorted = (sign: number): boolean =>
    numbers.every((number, index) => index === 0 || sign * (number - numbers[index - 1]!) >= 0);
  return isSorted(1) || isSorted(-1);
}

/**
 * Counts options, with one bar each, including options without answers. The options of the form come first,
 * in its order. Open-ended lists, and those of more than `most` options, are sorted by count.
 */
export function tallyOptions(question: Omit<SummarizedQuestion, 'type'>, most = mostInOrder): Tally {
  const { options } = question;
  const counts = new Map(options.map((option): [string, Counted] => [option, { count: 0 }]));
  const addOne = (option: string, groups?: InGroups): void => {
    const counted = counts.get(option) ?? { count: 0 };
    if (!counts.has(option) && counts.size >= options.length + otherOptions) return;
    counts.set(option, counted);
    countOne(counted, groups);
  };
  return {
    add(answer, groups) {
      if (typeof answer === 'boolean') addOne(answer ? 'Yes' : 'No', groups);
      for (const choice of Array.isArray(answer) ? answer : [answer])
        if (typeof choice === 'string') addOne(choice, groups);
    },
    result() {
      const bars = [...counts].map(([option, counted]) => ({ ...barOf(question, option), ...counted }));
      const inForm = bars.slice(0, options.length);
      const isInOrder =
        inForm.length > 0 && (inForm.length <= most || areNumbered(inForm.map(({ label }) => label)));
      const others = mostFirst(bars.slice(options.length));
      return {
        chart: 'options',
        order: isInOrder ? 'form' : 'count',
        bars: isInOrder ? [...inForm, ...others] : mostFirst(bars),
        numbers: null,
      };
    },
  };
}

export const mostFirst = <One extends Counted>(bars: readonly One[]): One[] =>
  bars.toSorted((a, b) => b.count - a.count);

/** Returns the label of an option, and its stored value if it differs. */
function barOf(question: Omit<SummarizedQuestion, 'type'>, option: string): Pick<Bar, 'label' | 'option'> {
  const label = optionLabel(question, option);
  return { label, ...(label !== option && { option }) };
}

/** Counts consents or signatures; a submission without one has no answer. */
export function tallyConsentsOrSignatures({ type }: SummarizedQuestion): Tally {
  const counted: Counted = { count: 0 };
  return {
    add(answer, groups) {
      if (isRecord(answer) || Array.isArray(answer)) countOne(counted, groups);
    },
    result: () => ({
      chart: 'given',
      bars: [{ label: type === 'consent' ? 'Agreed' : 'Signed', ...counted }],
      numbers: null,
    }),
  };
}

type Metric = NonNullable<ElementSummary['metric']>;

/** Returns the usual figure of a scale with these levels, or undefined if it has none. */
function metricNameOf(levels: readonly number[]): Exclude<Metric['name'], 'pass_rate'> | undefined {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === 0 && last === 10) return 'nps';
  if (first === 1 && last === 7) return 'ces';
  return levels.length === 5 ? 'csat' : undefined;
}

/**
 * Computes the usual figure of a scale:
 * - `nps`, for 0 to 10: the percentage of promoters (9 and 10) minus that of detractors (0 to 6).
 * - `csat`, for five levels: the percentage of the two highest.
 * - `ces`, for 1 to 7: the mean.
 * Scores and percentages are rounded to whole numbers. Answers outside of the scale, from previous versions,
 * are left out.
 */
function metricOf(levels: readonly number[], countOf: (level: number) => number): { metric?: Metric } {
  const name = metricNameOf(levels);
  const sum = (of: readonly number[]): number => of.reduce((total, level) => total + countOf(level), 0);
  const answers = sum(levels);
  if (name === undefined || answers === 0) return {};
  const values = {
    nps: () => round((100 * (sum([9, 10]) - sum([0, 1, 2, 3, 4, 5, 6]))) / answers),
    csat: () => round((100 * sum(levels.slice(-2))) / answers),
    ces: () => levels.reduce((total, level) => total + level * countOf(level), 0) / answers,
  } as const satisfies Record<Exclude<Metric['name'], 'pass_rate'>, () => number>;
  return { metric: { name, value: values[name](), answers } };
}

/** Rounds to a whole number; -0.4 becomes 0, not -0. */
const round = (value: number): number => Math.round(value) || 0;

/**
 * Counts levels, with one bar each, including levels without answers, and computes the mean and the usual
 * figure of the scale.
 */
export function tallyLevels(question: SummarizedQuestion): Tally {
  const [options, numbers] = [tallyOptions(question), tallyNumbers()];
  const levels = question.options.map(Number);
  return {
    add(answer, groups) {
      if (typeof answer !== 'number') return;
      options.add(String(answer), groups);
      numbers.add(answer, groups);
    },
    result() {
      const { bars } = options.result();
      const { numbers: span, groups } = numbers.result();
      const byLevel = new Map(bars.map((bar) => [Number(bar.label), bar]));
      const metric = metricOf(levels, (level) => byLevel.get(level)!.count);
      const withMetric = (group: 0 | 1): GroupNumbers => ({
        ...groups![group],
        ...metricOf(levels, (level) => byLevel.get(level)!.groups?.[group] ?? 0),
      });
      return {
        chart: metricNameOf(levels) === 'nps' ? 'recommendation' : 'levels',
        bars: bars.map(atLevel).sort((a, b) => Number(a.label) - Number(b.label)),
        numbers: span,
        ...metric,
        ...(metric.metric?.name === 'nps' && { score: metric.metric.value }),
        ...(groups && { groups: [withMetric(0), withMetric(1)] }),
      };
    },
  };
}

/** Gives the bar of a level its number as a range, by which its answers are found. */
function atLevel(bar: Bar): Bar {
  const level = Number(bar.label);
  return bar.count > 0 ? { ...bar, from: level, to: level } : bar;
}

/** Counts how often each option was ranked first, with its mean rank; best first. */
export function tallyRanking(question: SummarizedQuestion): Tally {
  const found = new Map(
    question.options.map((option) => [option, { first: startCount(), places: 0, count: 0 }]),
  );
  return {
    add(answer, groups) {
      for (const [index, option] of (Array.isArray(answer) ? (answer as readonly unknown[]) : []).entries()) {
        const of = typeof option === 'string' ? found.get(option) : undefined;
        if (!of) continue;
        if (index === 0) countOne(of.first, groups);
        of.places += index + 1;
        of.count += 1;
      }
    },
    result: () => ({
      chart: 'ranking',
      order: 'rank',
      bars: [...found]
        .map(([option, { first, places, count }]) => ({
          ...barOf(question, option),
          ...first,
          ...(count > 0 && { mean: places / count }),
        }))
        .sort((a, b) => (a.mean ?? Infinity) - (b.mean ?? Infinity)),
      numbers: null,
    }),
  };
}

/** Counts the options of each row. */
export function tallyMatrix(question: SummarizedQuestion): Tally {
  const counts = new Map(
    question.rows.map(({ id, label }) => [
      id,
      { label, answered: startCount(), tally: tallyOptions(question, Infinity) },
    ]),
  );
  return {
    add(answer, groups) {
      for (const [id, cell] of Object.entries(isRecord(answer) ? answer : {})) {
        const row = counts.get(id);
        if (!row) continue;
        countOne(row.answered, groups);
        row.tally.add(cell, groups);
      }
    },
    result: () => ({
      chart: 'grid',
      bars: [],
      rows: [...counts].map(([id, { label, answered, tally }]) => ({
        id,
        label,
        answered: answered.count,
        bars: tally.result().bars,
        ...(answered.groups && { groups: answered.groups }),
      })),
      numbers: null,
    }),
  };
}
