import type { AnswerRow, Answers } from '#ast/answers/check-answers.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { trimText } from '#ast/basics/text.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import type { SummaryKind } from '#ast/types/definition.ts';
import { mapWithYields } from '#kit/concurrency.ts';
import type { Column } from '../columns.ts';
import type { Bar, ElementSummary, Summary } from '../shapes.ts';
import {
  addGroups,
  addToBar,
  type Counted,
  countOne,
  type GroupNumbers,
  type InGroups,
  makeBars,
  mostFirst,
  type SpannedBar,
  type SummarizedQuestion,
  type Tally,
  tallyConsentsOrSignatures,
  tallyLevels,
  tallyMatrix,
  tallyNumbers,
  tallyOptions,
  tallyRanking,
  tallyRows,
} from './tally.ts';

/** The kinds of files in a summary, by the content type detected at upload. */
const fileKinds: readonly (readonly [pattern: string, label: string])[] = [
  ['^image/', 'Images'],
  ['^application/pdf$', 'PDF'],
  ['^video/', 'Videos'],
  ['^audio/', 'Sound'],
  ['^text/', 'Texts'],
];
const others = 'Other files';

/** Returns the file kind for a content type. */
export const fileKindOf = (contentType: string): string =>
  fileKinds.find(([pattern]) => new RegExp(pattern).test(contentType))?.[1] ?? others;

/**
 * Returns the content type patterns of a file kind. A file matches one of them or, if `isOther`, none.
 * Returns undefined for an unknown kind.
 */
export function contentTypesOfKind(
  label: string,
): { isOther: boolean; patterns: readonly string[] } | undefined {
  const isOther = label === others;
  const patterns = fileKinds.flatMap(([pattern, called]) => (isOther || called === label ? [pattern] : []));
  return patterns.length > 0 ? { isOther, patterns } : undefined;
}

/** The maximum number of months; a longer span is shown by year. */
const mostMonths = 36;

/** Counts dates by month, or by year if the span is long. */
function tallyMonths(): Tally {
  const counts = new Map<string, SpannedBar<string>>();
  return {
    add(answer, groups) {
      if (typeof answer !== 'string' || !/^\d{4}-\d{2}-/.test(answer)) return;
      const month = answer.slice(0, 7);
      const counted = counts.get(month) ?? { count: 0 };
      counts.set(month, counted);
      addToBar(counted, answer, groups);
    },
    result: () => ({ chart: 'months', bars: monthBars(counts), numbers: null }),
  };
}

/**
 * Returns a bar for every month from the first to the last, including empty ones. If the span is long, it
 * returns a bar for each year with answers.
 */
function monthBars(counts: ReadonlyMap<string, SpannedBar<string>>): Bar[] {
  const months = [...counts.keys()].sort();
  if (months.length === 0) return [];
  const [first, last] = [monthNumber(months[0]!), monthNumber(months.at(-1)!)];
  if (last - first < mostMonths)
    return makeBars(last - first + 1, (index) => {
      const number = first + index;
      const label = `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;
      return { label, ...(counts.get(label) ?? { count: 0 }) };
    });
  const years = Map.groupBy(months, (month) => month.slice(0, 4));
  return [...years].map(([label, within]) => {
    const each = within.map((month) => counts.get(month)!);
    const count = each.reduce((sum, one) => sum + one.count, 0);
    const groups = each.some((one) => one.groups)
      ? each.map((one) => one.groups).reduce((sum, one) => addGroups(sum, one))
      : undefined;
    return { label, count, ...(groups && { groups }), from: each[0]!.from!, to: each.at(-1)!.to! };
  });
}

const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;

/** Counts times by hour. */
function tallyHours(): Tally {
  const counts = Array.from({ length: 24 }, (): SpannedBar<string> => ({ count: 0 }));
  return {
    add(answer, groups) {
      const hour =
        typeof answer === 'string' && /^\d{2}:/.test(answer) ? counts[Number(answer.slice(0, 2))] : undefined;
      if (hour) addToBar(hour, answer as string, groups);
    },
    result: () => ({
      chart: 'hours',
      bars: counts.map((counted, hour) => ({ label: `${String(hour).padStart(2, '0')}:00`, ...counted })),
      numbers: null,
    }),
  };
}

/** The maximum number of different texts to count, and their length: other texts are rare or long. */
const mostTexts = 5_000;
const longestText = 100;
/** The number of most frequent texts to show. */
const mostBars = 10;

/** Counts texts that occur more than once, most frequent first, ignoring case and surrounding white space. */
function tallyTexts(): Tally {
  const counts = new Map<string, Counted & { label: string }>();
  return {
    add(answer, groups) {
      if (typeof answer !== 'string') return;
      const label = trimText(answer);
      if (label === '' || label.length > longestText) return;
      const key = label.toLowerCase();
      const counted = counts.get(key) ?? { label, count: 0 };
      countOne(counted, groups);
      if (counted.count === 1 && counts.size < mostTexts) counts.set(key, counted);
    },
    result: () => ({
      chart: 'texts',
      order: 'count',
      bars: mostFirst([...counts.values()].filter(({ count }) => count > 1)).slice(0, mostBars),
      numbers: null,
    }),
  };
}

const tallies: Record<SummaryKind, (question: SummarizedQuestion) => Tally> = {
  texts: tallyTexts,
  numbers: tallyNumbers,
  months: tallyMonths,
  hours: tallyHours,
  options: tallyOptions,
  levels: tallyLevels,
  recommendation: tallyLevels,
  ranking: tallyRanking,
  grid: tallyMatrix,
  given: tallyConsentsOrSignatures,
  yes_no: () => tallyOptions({ options: ['Yes', 'No'], option_labels: {}, rows: [] }),
  files: tallyFiles,
  rows: tallyRows,
  nothing: countOnly,
};

/**
 * Opens a tally for the answers to a question. @param isPrivate whether texts identify people; then they are
 * only counted.
 */
export function openTally(question: SummarizedQuestion, isPrivate = false): Tally {
  const { summary } = elementDefinitions[question.type];
  return summary === 'texts' && isPrivate ? countOnly() : tallies[summary](question);
}

function countOnly(): Tally {
  return { add() {}, result: () => ({ chart: 'count', bars: [], numbers: null }) };
}

/** Counts files by kind; kinds without files are omitted. */
function tallyFiles(): Tally {
  const counts = new Map<string, Counted>();
  return {
    add(answer, groups) {
      for (const file of Array.isArray(answer) ? (answer as readonly unknown[]) : []) {
        const type = isRecord(file) ? String(getProperty(file, 'content_type')) : '';
        const label = fileKindOf(type);
        const counted = counts.get(label) ?? { count: 0 };
        counts.set(label, counted);
        countOne(counted, groups);
      }
    },
    result: () => ({
      chart: 'files',
      order: 'count',
      bars: mostFirst([...counts].map(([label, counted]) => ({ label, ...counted }))),
      numbers: null,
    }),
  };
}

/** The number of free texts shown per question, and the maximum length of each. */
const latestTexts = 5;
const textLength = 280;

type Question = Column['inputs'][number];

/** A submission to summarize. `groups` is its groups in a comparison. */
type Sampled = { id: string; answers: Answers; groups?: InGroups | undefined };

/**
 * Summarizes the answers to every question, one submission at a time, newest first. Submissions arrive in
 * batches, so that memory does not grow with their number (except for numbers, which the histogram needs).
 * Questions that are no longer asked are left out if no submission answers them.
 * @param of.identifying the ids of elements whose answers identify a person or contain contact details: their
 * texts are omitted.
 */
export async function summariseElements(
  columns: readonly Column[],
  batches: AsyncIterable<readonly Sampled[]>,
  { identifying, isCompared }: { identifying: ReadonlySet<string>; isCompared: boolean },
): Promise<Pick<Summary, 'sampled' | 'elements' | 'groups'>> {
  const counters = columns.map((column) => ({
    column,
    top: openCounter(column, column, { group: null, identifying }),
    inner: column.inputs.map((input) => openCounter(input, column, { group: column.label, identifying })),
  }));
  const addAll = ({ answers, ...of }: Sampled): void => {
    for (const { column, top, inner } of counters) {
      const answer = getProperty(answers, column.id);
      if (answer === undefined) continue;
      top.add(of, answer);
      if (inner.length === 0 || !Array.isArray(answer)) continue;
      for (const row of (answer as unknown[]).filter(isRecord))
        for (const counter of inner) counter.add(of, getProperty(row as AnswerRow, counter.id));
    }
  };
  const sampled: Counted = { count: 0, ...(isCompared && { groups: [0, 0] }) };
  for await (const batch of batches)
    for (const submission of batch) {
      countOne(sampled, submission.groups);
      addAll(submission);
    }
  // The histogram of a million numbers takes tens of milliseconds.
  const elements = await mapWithYields(
    counters.flatMap(({ top, inner }) => [top, ...inner]),
    () => sampled.count,
    (counter) => counter.result(isCompared),
  );
  return {
    sampled: sampled.count,
    elements: elements.filter(({ answered, is_retired }) => answered > 0 || !is_retired),
    ...(sampled.groups && { groups: sampled.groups }),
  };
}

function openCounter(
  question: Question,
  { is_retired }: Column,
  { group, identifying }: { group: string | null; identifying: ReadonlySet<string> },
) {
  const tally = openTally(question, identifying.has(question.id));
  const texts: ElementSummary['texts'] = [];
  const answered: Counted = { count: 0 };
  return {
    id: question.id,
    add({ id, groups }: Omit<Sampled, 'answers'>, answer: unknown): void {
      if (answer === undefined) return;
      countOne(answered, groups);
      tally.add(answer, groups);
      if (texts.length < latestTexts && typeof answer === 'string')
        texts.push({ submission_id: id, text: answer.slice(0, textLength).toWellFormed() });
    },
    result(isCompared: boolean): ElementSummary {
      const { id, label, type } = question;
      const { groups, order = 'form', ...summary } = tally.result();
      const base = { id, label, type, is_retired, group, answered: answered.count, order, ...summary };
      const element = { ...base, texts: summary.chart === 'texts' ? texts : [] };
      return isCompared ? withGroups(element, answered.groups, groups) : element;
    },
  };
}

/** Adds the groups of a comparison, also where they have no answers. */
function withGroups(
  element: ElementSummary,
  answered: InGroups = [0, 0],
  numbers: [GroupNumbers, GroupNumbers] = [{ numbers: null }, { numbers: null }],
): ElementSummary {
  const inBoth = <Counts extends Pick<Bar, 'groups'>>(counts: Counts): Counts => ({
    ...counts,
    groups: addGroups(counts.groups),
  });
  const { rows } = element;
  return {
    ...element,
    bars: element.bars.map(inBoth),
    ...(rows && { rows: rows.map((row) => inBoth({ ...row, bars: row.bars.map(inBoth) })) }),
    groups: [
      { answered: answered[0], ...numbers[0] },
      { answered: answered[1], ...numbers[1] },
    ],
  };
}
