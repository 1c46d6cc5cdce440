import { leastIdAt, timeOfId } from '#kit/id-times.ts';
import { integer, jsonb, nullable, statement, timestamp, uuid } from '#kit/statement.ts';
import { keptFor, type Retention, type RetentionKind, retentionKinds } from '#workspaces/retention/rules.ts';

/** What a workspace and, where it is asked for, a form have said, and when they were changed last. */
export const findRetention = statement(
  'retention.find',
  'workspace_id form_id?',
  [
    'audit_days workspace_updated_at:timestamp form_updated_at:timestamp?',
    { workspace: jsonb<Retention>(), form: nullable(jsonb<Retention>()) },
  ],
  `select w.retention as workspace, f.retention as form, w.audit_days, w.updated_at as workspace_updated_at,
          f.updated_at as form_updated_at
     from workspaces w
     left join forms f on f.workspace_id = w.id and f.id = $form_id and f.deleted_at is null
    where w.id = $workspace_id`,
);

export const updateWorkspaceRetention = statement(
  'retention.update_workspace',
  ['workspace_id audit_days? now', { retention: jsonb<Retention>() }],
  '',
  `update workspaces set retention = $retention, audit_days = coalesce($audit_days, audit_days), updated_at = $now
    where id = $workspace_id`,
);

export const updateFormRetention = statement(
  'retention.update_form',
  ['workspace_id form_id now', { retention: jsonb<Retention>() }],
  '',
  `update forms set retention = $retention, updated_at = $now where workspace_id = $workspace_id and id = $form_id`,
);

/** Holds a workspace, and so its forms' rules, for a change of them. */
export const lockRetention = statement(
  'retention.lock',
  'workspace_id',
  '',
  `select from workspaces where id = $workspace_id for update`,
);

/** The forms of a workspace that say something themselves, by name. */
export const selectOwnRetention = statement(
  'retention.select_own',
  'workspace_id limit',
  ['id name', { retention: jsonb<Retention>() }],
  `select id, name, retention from forms
    where workspace_id = $workspace_id and deleted_at is null and retention <> '{}'
    order by name, id limit $limit`,
);

/** Where things of a kind are, of a form `f`: when their days began, and which index finds the old ones. */
const placeOf: Readonly<
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
const dueBy = (kind: RetentionKind, at: string, said?: readonly string[]): string => {
  const { where, since, isById } = placeOf[kind];
  const cut = `(${at} - ${keptFor(kind, said)})`;
  return `x.workspace_id = f.workspace_id and x.form_id = f.id and ${where} and ${since} < ${cut}${
    isById ? ` and x.id < ${leastIdAt(cut)}` : ''
  }`;
};

/** So many are counted exactly. */
export const mostCounted = 10_000;

const counted = (kind: RetentionKind) =>
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

/** How much of each kind goes now, within a week and a month, and when the next of it. */
export const countDue = Object.fromEntries(retentionKinds.map((kind) => [kind, counted(kind)])) as Record<
  RetentionKind,
  ReturnType<typeof counted>
>;

const found = (kind: 'submissions' | 'incomplete' | 'trash' | 'files') =>
  statement(
    `retention.find_${kind}`,
    'now limit without',
    'workspace_id form_id id',
    `/* sweep: across workspaces */
     select x.workspace_id, x.form_id, x.id
       from workspaces w
       join forms f on f.workspace_id = w.id and f.deleted_at is null and ${keptFor(kind)} is not null
        and f.id <> all ($without)
       cross join lateral (
         select x.workspace_id, x.form_id, x.id from ${placeOf[kind].from}
          where ${dueBy(kind, '$now')} limit $limit) x
      limit $limit`,
  );

/** Submissions and files whose time is over, in all workspaces; `without` the forms that are named. */
export const findDue = {
  submissions: found('submissions'),
  incomplete: found('incomplete'),
  trash: found('trash'),
  files: found('files'),
};

const locked = (kind: 'submissions' | 'incomplete' | 'trash') =>
  statement(
    `retention.lock_${kind}`,
    'workspace_id form_id ids now',
    'id',
    `select x.id from workspaces w
       join forms f on f.workspace_id = w.id and f.id = $form_id
       join submissions x on x.workspace_id = f.workspace_id and x.id = any ($ids)
      where w.id = $workspace_id and ${dueBy(kind, '$now')}
      order by x.id for update of x`,
  );

/** Of these those whose time is still over: somebody may have gone on with one, or brought it back. */
export const lockDue = {
  submissions: locked('submissions'),
  incomplete: locked('incomplete'),
  trash: locked('trash'),
};

/** Makes files nobody's: the sweep removes them within seconds. */
export const releaseFiles = statement(
  'retention.release_files',
  'workspace_id ids now',
  '',
  `update files set submission_id = null, claimed_at = $now where workspace_id = $workspace_id and id = any ($ids)`,
);
