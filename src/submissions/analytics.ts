import { type Static, Type } from 'typebox';
import { withStableLabels } from '#ast/piping.ts';
import type { Settings } from '#ast/settings.ts';
import { type Form, listQuestions } from '#ast/tree.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { named } from '#kit/pagination.ts';
import { columns, requireRow, statement, word } from '#kit/statement.ts';
import { dayRange, readDays } from '#kit/time-range.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { findViewedForm, readStructures } from './read-columns.ts';
import { medianOf, reviewName, stepNames, type VisitKind } from './visit-counter.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const share = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], { description });

/** Which days of the form's time zone count; all days if none is named. */
const AnalyticsQuery = Type.Object(dayRange, { additionalProperties: false });

const Step = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  title: Type.Union([Type.String(), Type.Null()], {
    description: 'As the author wrote it; null without one.',
  }),
  is_review: Type.Boolean({ description: 'It lists the answers before they are sent.' }),
  reached: count('Visits that came to it.'),
  left: count('Visits that went no further and sent nothing.'),
  drop_off: share('The share of those who came that left; null when nobody came.'),
});
const Question = Type.Object({
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  step: Type.Integer({ minimum: 1, description: 'The number of its step.' }),
  left: count('Visits that sent nothing, and touched this question last.'),
});

/** How the visits of a form went. */
export const Analytics = named(
  'Analytics',
  Type.Object({
    is_counting: Type.Boolean({ description: 'Whether visits are counted now: the setting `analytics`.' }),
    time_zone: Type.String({ description: 'Whose days are meant: that of the form.' }),
    views: count('How often the page was shown to somebody.'),
    starts: count('Visits in which an answer was begun, as far as that is known.'),
    completions: count('Visits that ended with a submission.'),
    start_rate: share('Of the views; null without one.'),
    completion_rate: share('Of the starts; null without one.'),
    median_seconds: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description:
        'From when the page was opened until it was sent, with every pause: half of the completions took less. Within 5 %.',
    }),
    script_share: share(
      'The share of the starts that the script of the page told of. Without it a visit begins with its first post, and nobody knows what was touched within a step.',
    ),
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date' }),
        views: count('Of this day.'),
        starts: count('Of this day.'),
        completions: count('Of this day.'),
      }),
      { description: 'Days on which nothing happened are left out.' },
    ),
    steps: Type.Array(Step, { description: 'Of the live version, all of them, in its order.' }),
    questions: Type.Array(Question, { description: 'Of the live version, all of them, in its order.' }),
  }),
);
export type Analytics = Static<typeof Analytics>;

/** Forgets what is older than a day. */
export const forgetVisits = statement(
  'analytics.forget_visits',
  'before:text',
  '',
  `/* sweep: across workspaces */
   delete from visit_counts where day < $before::date`,
);

const span = columns('workspace_id form_id from:text? to:text?');

const inSpan = `workspace_id = $workspace_id and form_id = $form_id
  and ($from is null or day >= $from::date) and ($to is null or day <= $to::date)`;

/** The sums of a span of days, both ends among them. */
export const sumVisits = statement(
  'analytics.sum_visits',
  span,
  ['name count', { kind: word<VisitKind>() }],
  `select kind, name, sum(count)::bigint as count from visit_counts where ${inSpan} group by kind, name`,
);

/** What each day of it had; days without a visit are left out. */
const listVisitDays = statement(
  'analytics.list_visit_days',
  span,
  'day views:bigint starts:bigint completions:bigint',
  `select to_char(day, 'YYYY-MM-DD') as day,
     coalesce(sum(count) filter (where kind = 'view'), 0)::bigint as views,
     coalesce(sum(count) filter (where kind = 'start'), 0)::bigint as starts,
     coalesce(sum(count) filter (where kind = 'completion'), 0)::bigint as completions
   from visit_counts where ${inSpan} and kind in ('view', 'start', 'completion')
   group by day order by visit_counts.day`,
);

type Sums = (kind: VisitKind, name?: string) => number;

/**
 * How the visits of a form went in a span of days, by the steps and questions that it has now.
 * @throws ApiError not_found.
 */
async function readAnalytics(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  { from, to }: { from: string | null; to: string | null },
): Promise<Analytics> {
  const key = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await findViewedForm(database, key));
  const [[live], rows, days] = await Promise.all([
    readStructures(database, { ...key, versions: [found.version] }),
    sumVisits(database, { ...key, from, to }),
    listVisitDays(database, { ...key, from, to }),
  ]);
  const byName = new Map(rows.map(({ kind, name, count }) => [`${kind} ${name}`, count]));
  // What was lost on the way, or came after midnight, can leave less than nothing.
  const sums: Sums = (kind, name = '') => Math.max(0, byName.get(`${kind} ${name}`) ?? 0);
  const [views, starts, completions] = [sums('view'), sums('start'), sums('completion')];
  const times = rows.filter(({ kind }) => kind === 'time');
  const form = withStableLabels(live!.structure);
  return {
    is_counting: found.settings.analytics ?? true,
    time_zone: found.settings.time_zone ?? 'UTC',
    views,
    starts,
    completions,
    start_rate: shareOf(starts, views),
    completion_rate: shareOf(completions, starts),
    median_seconds: medianOf(times.map(({ name, count }) => [Number(name), count])),
    script_share: shareOf(sums('scripted_start'), starts),
    days,
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

const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.min(1, part / whole);

function stepsOf(form: Form, { review_step: hasReview }: Settings, sums: Sums): Analytics['steps'] {
  const say = (title: string | null, names: readonly string[]) => {
    const reached = Math.max(...names.map((name) => sums('step', name)));
    // A step whose questions are asked one by one is left at any of them.
    const left = names.reduce((sum, name) => sum + Math.max(0, sums('step', name) - sums('onward', name)), 0);
    return { title, reached, left, drop_off: shareOf(left, reached) };
  };
  const asked = form.children.map((step, index) => ({
    ...say(step.attrs?.title ?? null, stepNames(form, index)),
    is_review: false,
  }));
  const review = hasReview ? [{ ...say(null, [reviewName]), is_review: true }] : [];
  return [...asked, ...review].map((step, index) => ({ number: index + 1, ...step }));
}

/** How the visits of a form went. */
export const analyticsEndpoints = ({ database }: { database: Database }) => ({
  getFormAnalytics: operation({
    summary: 'Get analytics of a form',
    description:
      'How many saw the page, began to answer and sent it, and where the others left. These are sums: no visit is kept, and those that ask not to be tracked, machines and previews are not counted. Counts are at most a second or two old; a crash may lose as much.',
    permission: 'submissions:read',
    params: idParameter,
    query: AnalyticsQuery,
    example: { query: { created_from: '2026-01-01T00:00:00.000Z', created_to: '2027-01-01T00:00:00.000Z' } },
    reply: { status: 200, description: 'The analytics.', schema: Analytics },
    async run({ workspaceId, formIds, params, query }) {
      requireReach(formIds, params.id);
      return { body: await readAnalytics(database, { workspaceId, formId: params.id }, readDays(query)) };
    },
  }),
});
