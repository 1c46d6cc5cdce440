import { type Column, columns, statement, word } from '#kit/statement.ts';

/**
 * What is counted of visits. `step`: it was reached; `onward`: it was left for another one, or by sending. `question`: it was
 * the last that was touched, less those who then touched another one or sent. `time`: the span of time that sending took.
 */
export const visitKinds = [
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

const bigints: Column<number[]> = { pg: 'bigint[]' };

/** Adds to sums of forms that are still there. In one order: no deadlocks. */
export const addVisits = statement(
  'analytics.add_visits',
  ['workspace_ids form_ids days kinds names', { counts: bigints }],
  '',
  `/* sweep: across workspaces */
   insert into visit_counts as v (workspace_id, form_id, day, kind, name, count)
   select given.workspace_id, given.form_id, given.day, given.kind, given.name, given.count
   from unnest($workspace_ids, $form_ids, $days, $kinds, $names, $counts)
     as given (workspace_id, form_id, day, kind, name, count)
   join forms f on f.workspace_id = given.workspace_id and f.id = given.form_id and f.deleted_at is null
   order by 1, 2, 3, 4, 5
   on conflict (workspace_id, form_id, day, kind, name) do update set count = v.count + excluded.count`,
);

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
export const listVisitDays = statement(
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
