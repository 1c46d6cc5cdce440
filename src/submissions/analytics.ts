import { type Static, Type } from 'typebox';
import { withPipedLabels } from '#ast/form/piping.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { requireRow, statement, textEnum } from '#kit/statement.ts';
import { dayRangeParameters, readDayRange } from '#kit/time-range.ts';
import { strictObject } from '#kit/validation.ts';
import { findViewedForm, readStructures } from './read-columns.ts';
import { listVisitNamesOfStep, medianDuration, reviewVisitName, type VisitKind } from './visit-counter.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const share = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], { description });

/** The days to count, in the form's time zone; all days if neither end is given. */
const AnalyticsQuery = strictObject(dayRangeParameters);

const Step = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  title: Type.Union([Type.String(), Type.Null()], {
    description: 'The title that the author wrote; null without a title.',
  }),
  is_review: Type.Boolean({
    description: 'Whether this is the review step, which lists the answers before submission.',
  }),
  reached: count('Visits that reached the step.'),
  left: count('Visits that ended at this step without a submission.'),
  drop_off: share('The share of visits to the step that ended there; null without visits.'),
});
const Question = Type.Object({
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  step: Type.Integer({ minimum: 1, description: "The number of the question's step." }),
  left: count('Visits that ended without a submission and in which this question was the last one touched.'),
});

export const Analytics = namedObject('Analytics', {
  is_counting: Type.Boolean({ description: 'Whether visits are counted now, by the setting `analytics`.' }),
  time_zone: Type.String({ description: "The form's time zone, which defines the days." }),
  views: count('The number of page views.'),
  starts: count('Visits in which the visitor began to answer, if known.'),
  completions: count('Visits that ended with a submission.'),
  start_rate: share('Starts divided by views; null without views.'),
  completion_rate: share('Completions divided by starts; null without starts.'),
  median_seconds: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'The median time from opening the page to submission, including pauses. Accurate within 5%.',
  }),
  script_share: share(
    "The share of starts that the page's script reported. Without the script, a visit starts with its first post, and the questions touched within a step are unknown.",
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date' }),
      views: count('On this day.'),
      starts: count('On this day.'),
      completions: count('On this day.'),
    }),
    { description: 'Days without visits are omitted.' },
  ),
  steps: Type.Array(Step, { description: 'All those in the live version, in order.' }),
  questions: Type.Array(Question, { description: 'All those in the live version, in order.' }),
});
export type Analytics = Static<typeof Analytics>;

/** Deletes the visit counts of days before a date. */
export const deleteVisitsBefore = statement('before:text', '')`
  /* sweep: across workspaces */
  delete from visit_counts where day < $before::date`;

/**
 * Sums the counts of a span of days, including both ends: each kind and name over all days (`day` is null),
 * and views, starts and completions per day. One statement reads both, because visits are counted in the
 * meantime.
 */
export const sumVisits = statement('workspace_id form_id from:text? to:text?', [
  'name:text? day:text? count',
  { kind: textEnum<VisitKind>() },
])`
  select kind, name, to_char(day, 'YYYY-MM-DD') as day, sum(count)::bigint as count from visit_counts
  where workspace_id = $workspace_id and form_id = $form_id
    and ($from is null or day >= $from::date) and ($to is null or day <= $to::date)
  group by grouping sets ((kind, name), (kind, day))
  having day is null or kind in ('view', 'start', 'completion') order by visit_counts.day, kind`;

/** Returns the sum of a kind of count over all days of the span, for all names or one name. */
type Sums = (kind: VisitKind, name?: string) => number;

/**
 * Reads the analytics of a form for a span of days, by its current steps and questions.
 * @throws ApiError not_found.
 */
async function readAnalytics(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  { from, to }: { from: string | null; to: string | null },
): Promise<Analytics> {
  const key = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await findViewedForm(database, key));
  const [[live], rows] = await Promise.all([
    readStructures(database, { ...key, versions: [found.version] }),
    sumVisits(database, { ...key, from, to }),
  ]);
  const inAll = rows.filter(({ day }) => day === null);
  const byName = new Map(inAll.map(({ kind, name, count }) => [`${kind} ${name}`, count]));
  // Lost counts, and visits that continue past midnight, can make a sum negative.
  const sums: Sums = (kind, name = '') => Math.max(0, byName.get(`${kind} ${name}`) ?? 0);
  const [views, starts, completions] = [sums('view'), sums('start'), sums('completion')];
  const times = inAll.filter(({ kind }) => kind === 'time');
  const form = withPipedLabels(live!.structure);
  return {
    is_counting: found.settings.analytics ?? true,
    time_zone: found.settings.time_zone ?? 'UTC',
    views,
    starts,
    completions,
    start_rate: shareOf(starts, views),
    completion_rate: shareOf(completions, starts),
    median_seconds: medianDuration(times.map(({ name, count }) => [Number(name), count])),
    script_share: shareOf(sums('scripted_start'), starts),
    days: daysOf(rows),
    steps: stepsOf(form, found.settings, sums),
    questions: form.children.flatMap((step, index) =>
      listQuestions({ ...form, children: [step] }).map(({ element: { type, attrs } }) => ({
        id: attrs.id,
        label: attrs.label,
        type,
        step: index + 1,
        left: sums('question', attrs.id),
      })),
    ),
  };
}

/** Returns the counts of each day, except days without visits. */
function daysOf(rows: readonly { kind: VisitKind; day: string | null; count: number }[]): Analytics['days'] {
  const ofDays = Map.groupBy(rows, ({ day }) => day);
  ofDays.delete(null);
  return [...ofDays].map(([day, counts]) => {
    const countOf = (wanted: VisitKind) => counts.find(({ kind }) => kind === wanted)?.count ?? 0;
    return {
      day: day!,
      views: countOf('view'),
      starts: countOf('start'),
      completions: countOf('completion'),
    };
  });
}

const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.min(1, part / whole);

function stepsOf(form: Form, { review_step: hasReview }: Settings, sums: Sums): Analytics['steps'] {
  const analyzeStep = (title: string | null, names: readonly string[]) => {
    const reached = Math.max(...names.map((name) => sums('step', name)));
    // If a step asks its questions one by one, visitors can leave at any of them.
    const left = names.reduce((sum, name) => sum + Math.max(0, sums('step', name) - sums('onward', name)), 0);
    return { title, reached, left, drop_off: shareOf(left, reached) };
  };
  const steps = form.children.map((step, index) => ({
    ...analyzeStep(step.attrs?.title ?? null, listVisitNamesOfStep(form, index)),
    is_review: false,
  }));
  const review = hasReview ? [{ ...analyzeStep(null, [reviewVisitName]), is_review: true }] : [];
  return [...steps, ...review].map((step, index) => ({ number: index + 1, ...step }));
}

export const analyticsEndpoints = ({ database }: { database: Database }) => ({
  getFormAnalytics: operation({
    summary: 'Get analytics of a form',
    description:
      'Returns how many visitors viewed, started and submitted the form, and where the others left. Only sums are stored, not visits. Bots, previews and visitors who ask not to be tracked are not counted. Counts lag by one or two seconds, and a crash can lose the counts of that time.',
    permission: 'submissions:read',
    params: idParameter,
    query: AnalyticsQuery,
    example: { query: { created_from: '2026-01-01T00:00:00.000Z', created_to: '2027-01-01T00:00:00.000Z' } },
    reply: { status: 200, description: 'The analytics.', schema: Analytics },
    async run({ workspaceId, params, query }) {
      return { body: await readAnalytics(database, { workspaceId, formId: params.id }, readDayRange(query)) };
    },
  }),
});
