import { memoizeByObject } from '#ast/basics/memoize.ts';
import { type Form, listQuestions, type Step } from '#ast/form/tree.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { runPeriodically } from '#kit/queue/periodic.ts';
import { type StatementColumn, statement } from '#kit/statement.ts';

/**
 * The counts of visits. `step`: the step was reached. `onward`: the visitor left it for another step or by
 * submitting. `question`: visits that touched this question last and did not submit. `time`: the time until
 * submission, as a span (durationBucket).
 */
const visitKinds = [
  'view',
  'start',
  'scripted_start',
  'completion',
  'step',
  'onward',
  'question',
  'time',
] as const;

export type VisitKind = (typeof visitKinds)[number];

const bigints: StatementColumn<number[]> = { pg: 'bigint[]' };

/** Adds to the sums of forms that are not deleted. A fixed order prevents deadlocks. */
export const addVisits = statement(['workspace_ids form_ids days kinds names', { counts: bigints }], '')`
  /* sweep: across workspaces */
  insert into visit_counts as v (workspace_id, form_id, day, kind, name, count)
  select given.workspace_id, given.form_id, given.day, given.kind, given.name, given.count
  from unnest($workspace_ids, $form_ids, $days, $kinds, $names, $counts)
    as given (workspace_id, form_id, day, kind, name, count)
  join forms f on f.workspace_id = given.workspace_id and f.id = given.form_id and f.deleted_at is null
  order by 1, 2, 3, 4, 5
  on conflict (workspace_id, form_id, day, kind, name) do update set count = v.count + excluded.count`;

/** An increment of one count. */
export type VisitCount = readonly [kind: VisitKind, name: string, by: number];

/** The form and day of a count; the day is YYYY-MM-DD in the form's time zone. */
type CountedDay = { readonly workspaceId: string; readonly formId: string; readonly day: string };

/** Collects the counts of visits that this process has not written yet. */
export type VisitCounter = {
  /**
   * Adds the actions of a visitor, unless their address exceeded its limit for this minute. The visitor does
   * not wait for this.
   */
  add(place: CountedDay, address: string, counts: Iterable<VisitCount>): void;
  /** Writes the remaining counts. */
  stop(): Promise<void>;
};

/** The delay before counts are written. A killed process loses as much. */
const pauseMs = 1_000;
/**
 * The maximum number of unwritten sums, about 10 MB. It is reached only if the database is down. Further sums
 * are lost.
 */
const mostSums = 50_000;
/** The maximum number of addresses per minute. Further addresses are not counted. */
const mostAddresses = 100_000;
const minuteMs = 60_000;

type Sum = CountedDay & { kind: VisitKind; name: string; count: number };

/**
 * Counts visits as sums by form and day in memory, and writes them in batches: one statement a second, for
 * any number of visits. A killed process loses its last second of counts, but never an answer. Addresses stay
 * in memory for a minute, so that no single address can inflate the counts of a form.
 * @param most the number of visits that one address can add per minute (SUBMITS_PER_ADDRESS); 0 for no limit.
 */
export function openVisitCounter(
  { database, log }: { database: Database; log: Log },
  most: number,
): VisitCounter {
  let sums = new Map<string, Sum>();
  let minute = 0;
  const addresses = new Map<string, number>();
  const admits = (address: string): boolean => {
    if (most === 0) return true;
    const current = Math.floor(performance.now() / minuteMs);
    if (current !== minute) addresses.clear();
    minute = current;
    const visits = addresses.get(address) ?? 0;
    if (visits >= most || (visits === 0 && addresses.size >= mostAddresses)) return false;
    addresses.set(address, visits + 1);
    return true;
  };
  const put = (sum: Sum): void => {
    const key = `${sum.formId} ${sum.day} ${sum.kind} ${sum.name}`;
    const known = sums.get(key);
    if (known) known.count += sum.count;
    else if (sums.size < mostSums) sums.set(key, sum);
  };
  const write = async (): Promise<void> => {
    if (sums.size === 0) return;
    const batch = [...sums.values()];
    sums = new Map();
    try {
      await writeSums(database, batch);
    } catch (error) {
      // The batch is retried with the visits that were counted in the meantime.
      for (const sum of batch) put(sum);
      throw error;
    }
  };
  const writing = runPeriodically('counting visits', { pauseMs, log, work: write });
  return {
    add(place, address, counts) {
      if (!admits(address)) return;
      for (const [kind, name, count] of counts) put({ ...place, kind, name, count });
    },
    async stop() {
      await writing.stop();
      await write().catch((error: unknown) => log.warn({ err: error }, 'the last visits were not counted'));
    },
  };
}

async function writeSums(database: Database, sums: readonly Sum[]): Promise<void> {
  const changed = sums.filter(({ count }) => count !== 0);
  await addVisits(database, {
    workspace_ids: changed.map(({ workspaceId }) => workspaceId),
    form_ids: changed.map(({ formId }) => formId),
    days: changed.map(({ day }) => day),
    kinds: changed.map(({ kind }) => kind),
    names: changed.map(({ name }) => name),
    counts: changed.map(({ count }) => count),
  });
}

/*
 * Times are counted in spans, each 10% longer than the one before: the middle of a span is never off by more
 * than 5%.
 */
const growth = 1.1;
/** The maximum duration counted: 30 days. Longer visits count as 30 days. */
const mostSeconds = 2_592_000;

/** Returns the number of the span that contains a time. */
export const durationBucket = (seconds: number): number =>
  Math.floor(Math.log(Math.min(Math.max(seconds, 1), mostSeconds)) / Math.log(growth));

/** Returns the median time in seconds; null if there are no times. */
export function medianDuration(spans: readonly (readonly [span: number, count: number])[]): number | null {
  const total = spans.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [span, count] of spans.toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below * 2 >= total && count > 0) return Math.round(growth ** (span + 0.5));
  }
  return null;
}

const questionsOf = (step: Step): string[] =>
  listQuestions({ type: 'form', attrs: { name: '' }, children: [step] }).map(
    ({ element }) => element.attrs.id,
  );

/**
 * Returns the names under which visits to a step are counted: the ids of its questions, which stay the same
 * when steps are moved. A step without questions is counted under its id, or else its number.
 */
export function listVisitNamesOfStep({ children }: Form, index: number): readonly [string, ...string[]] {
  const step = children[index]!;
  const [first, ...rest] = questionsOf(step);
  return first === undefined ? [`#${step.attrs?.id ?? index}`] : [first, ...rest];
}

/** The name of the review step, based on the id that the page gives it. */
export const reviewVisitName = '#_review';

/** Returns the name of each step of a form: the id of its first question. */
export const visitNamesOfSteps = memoizeByObject((form: Form): readonly string[] =>
  form.children.map((_, index) => listVisitNamesOfStep(form, index)[0]),
);
