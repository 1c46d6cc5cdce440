import { leastIdAt, timeOfId } from '#kit/id-times.ts';
import { integer, jsonb, nullable, statement, timestamp, uuid } from '#kit/statement.ts';
import { keptFor, type Retention, type RetentionKind } from '#workspaces/retention.ts';

/** Where things of a kind are, of a form `f`: when their days began, and which index finds the old ones. */
export const placeOf: Readonly<
  Record<RetentionKind, { from: string; where: string; since: string; isById?: true }>
> = {
  submissions: {
    from: 'submissions x',
    where: "x.status = 'completed' and x.trashed_at is null",
    since: 'x.completed_at',
    isById: true,
  },
  incomplete: {
    from: 'submissions x',
    where: "x.status = 'incomplete' and x.trashed_at is null",
    since: 'x.updated_at',
    isById: true,
  },
  files: {
    from: 'files x join submissions s on s.workspace_id = x.workspace_id and s.id = x.submission_id',
    where: "s.status = 'completed' and s.trashed_at is null",
    since: 'x.created_at',
  },
  mails: { from: 'mails x', where: "x.state <> 'queued' and not x.is_private", since: 'x.created_at' },
  deliveries: {
    from: 'deliveries x',
    where: "x.status <> 'Retrying'",
    since: timeOfId('x.id'),
    isById: true,
  },
  trash: { from: 'submissions x', where: 'x.trashed_at is not null', since: 'x.trashed_at' },
};

/** What is `$at` or sooner over, of a form. */
export const dueBy = (kind: RetentionKind, at: string, said?: readonly string[]): string => {
  const { where, since, isById } = placeOf[kind];
  const cut = `(${at} - ${keptFor(kind, said)})`;
  return `x.workspace_id = f.workspace_id and x.form_id = f.id and ${where} and ${since} < ${cut}${
    isById ? ` and x.id < ${leastIdAt(cut)}` : ''
  }`;
};

/** So many are counted exactly. */
export const mostCounted = 10_000;

export const counted = (kind: RetentionKind) =>
  statement(
    `retention.count_${kind}`,
    {
      workspace_id: uuid,
      form_id: nullable(uuid),
      /** In place of what is said; null: as it is said. */
      workspace_rules: nullable(jsonb<Retention>()),
      form_rules: nullable(jsonb<Retention>()),
      now: timestamp,
      week: timestamp,
      month: timestamp,
      ...(kind === 'deliveries' && { operator_days: integer }),
    },
    'now:bigint week:bigint month:bigint next_at:timestamp?',
    `select count(*) filter (where due_at < $now) as now, count(*) filter (where due_at < $week) as week,
            count(*) as month, min(due_at) as next_at
       from (
         select x.due_at
           from workspaces w
           join forms f on f.workspace_id = w.id and f.deleted_at is null and ($form_id is null or f.id = $form_id)
           cross join lateral (
             select ${placeOf[kind].since} + ${keptFor(kind, said)} as due_at from ${placeOf[kind].from}
              where ${dueBy(kind, '$month', said)} limit ${mostCounted + 1}) x
          where w.id = $workspace_id
          limit ${mostCounted + 1}) due`,
  );
const said = ['coalesce($form_rules, f.retention)', 'coalesce($workspace_rules, w.retention)'];
