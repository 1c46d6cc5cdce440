import { leastIdAtSql, now, timeOfIdSql } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type Failures, processInBatches, throwFailures } from '#kit/queue/periodic.ts';
import { integer, jsonb, nullable, statement, timestamp, uuid } from '#kit/statement.ts';
import { recordRetentionDeletion } from '#workspaces/audit/record-account-event.ts';
import { type Retention, type RetentionKind, retentionIntervalSql } from '#workspaces/retention.ts';
import { eraseSubmissions } from '../erase/erase.ts';

/**
 * For each kind of data of a form `f`: its table, its condition and the start of its retention period.
 * `isById` also limits ids, so that their index finds old rows.
 */
const placeOf: Readonly<
  Record<RetentionKind, { from: string; where: string; since: string; isById?: true }>
> = {
  submissions: {
    from: 'submissions x',
    where: "x.status <> 'incomplete' and x.trashed_at is null",
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
    where: "s.status <> 'incomplete' and s.trashed_at is null",
    since: 'x.created_at',
  },
  mails: { from: 'mails x', where: "x.state <> 'queued' and not x.is_private", since: 'x.created_at' },
  deliveries: {
    from: 'deliveries x',
    where: "x.status <> 'Retrying'",
    since: timeOfIdSql('x.id'),
    isById: true,
  },
  trash: { from: 'submissions x', where: 'x.trashed_at is not null', since: 'x.trashed_at' },
};

/** Returns the condition for data of a form that expires at `$at` or earlier. */
const dueBy = (kind: RetentionKind, at: string, columns?: readonly string[]): string => {
  const { where, since, isById } = placeOf[kind];
  const cut = `(${at} - ${retentionIntervalSql(kind, columns)})`;
  return `x.workspace_id = f.workspace_id and x.form_id = f.id and ${where} and ${since} < ${cut}${
    isById ? ` and x.id < ${leastIdAtSql(cut)}` : ''
  }`;
};

/** The highest count that is exact. */
export const mostCounted = 10_000;

export const declareRetentionCount = (kind: RetentionKind) =>
  statement(
    {
      workspace_id: uuid,
      form_id: nullable(uuid),
      /** Rules to use instead of the stored ones; null to use the stored ones. */
      workspace_rules: nullable(jsonb<Retention>()),
      form_rules: nullable(jsonb<Retention>()),
      now: timestamp,
      week: timestamp,
      month: timestamp,
      ...(kind === 'deliveries' && { operator_days: integer }),
    },
    'now:bigint week:bigint month:bigint next_at:timestamp?',
  )`
    select count(*) filter (where due_at < $now) as now, count(*) filter (where due_at < $week) as week,
           count(*) as month, min(due_at) as next_at
      from (
        select x.due_at
          from workspaces w
          join forms f on f.workspace_id = w.id and f.deleted_at is null and ($form_id is null or f.id = $form_id)
          cross join lateral (
            select ${placeOf[kind].since} + ${retentionIntervalSql(kind, storedRules)} as due_at from ${placeOf[kind].from}
             where ${dueBy(kind, '$month', storedRules)} limit ${mostCounted + 1}) x
         where w.id = $workspace_id
         limit ${mostCounted + 1}) due`;
const storedRules = ['coalesce($form_rules, f.retention)', 'coalesce($workspace_rules, w.retention)'];

const found = (kind: 'submissions' | 'incomplete' | 'trash' | 'files') =>
  statement('now limit without', 'workspace_id form_id id')`
    /* sweep: across workspaces */
    select x.workspace_id, x.form_id, x.id
      from workspaces w
      join forms f on f.workspace_id = w.id and f.deleted_at is null and ${retentionIntervalSql(kind)} is not null
       and f.id <> all ($without)
      cross join lateral (
        select x.workspace_id, x.form_id, x.id from ${placeOf[kind].from}
         where ${dueBy(kind, '$now')} limit $limit) x
     limit $limit`;

/** Selects expired submissions and files of all workspaces; `without` excludes forms. */
const findDue = {
  submissions: found('submissions'),
  incomplete: found('incomplete'),
  trash: found('trash'),
  files: found('files'),
};

const locked = (kind: 'submissions' | 'incomplete' | 'trash') =>
  statement('workspace_id form_id ids now', 'id')`
    select x.id from workspaces w
      join forms f on f.workspace_id = w.id and f.id = $form_id
      join submissions x on x.workspace_id = f.workspace_id and x.id = any ($ids)
     where w.id = $workspace_id and ${dueBy(kind, '$now')}
     order by x.id for update of x`;

/**
 * Locks the rows that are still expired: a visitor may have resumed a submission, or a member may have
 * restored one.
 */
const lockDue = {
  submissions: locked('submissions'),
  incomplete: locked('incomplete'),
  trash: locked('trash'),
};

/** Releases files from their submissions. The sweep deletes them within seconds. */
const releaseFiles = statement('workspace_id ids now', '')`
  update files set submission_id = null, claimed_at = $now where workspace_id = $workspace_id and id = any ($ids)`;

/** The number of rows per transaction, to keep locks short. */
const batch = 200;

type Context = { database: Database; wakeQueue: () => void };
type Due = Awaited<ReturnType<typeof findDue.files>>[number];
type Kind = keyof typeof findDue;

/**
 * Erases data whose retention period in its workspace or form has ended: completed and incomplete
 * submissions, the trash, and files. Uses the code that erases a person's data (erase/erase.ts), in batches,
 * until nothing is due. Emails, deliveries and the audit log have their own sweeps with the same rules.
 * @throws AggregateError for the forms that failed; the others are done, and the next run retries those that
 * failed.
 */
export async function applyRetention(context: Context): Promise<void> {
  const failures: Failures = new Map();
  for (const kind of ['trash', 'incomplete', 'submissions', 'files'] as const)
    await processInBatches(failures, {
      batch,
      find: ({ limit, without }) => findDue[kind](context.database, { now: now(), limit, without }),
      partOf: (row) => row.form_id,
      work: (rows) => eraseDueRows(context, kind, rows),
    });
  throwFailures(failures);
}

/** @param rows the rows of one form. */
async function eraseDueRows(
  { database, wakeQueue }: Context,
  kind: Kind,
  rows: readonly Due[],
): Promise<void> {
  const { workspace_id, form_id } = rows[0]!;
  const ids = rows.map(({ id }) => id);
  const key = { workspaceId: workspace_id, formId: form_id };
  const deliveries = await transaction(database, async (client) => {
    if (kind === 'files') {
      await releaseFiles(client, { workspace_id, ids, now: now() });
      await recordRetentionDeletion(client, { ...key, kind, count: ids.length });
      return 0;
    }
    const still = await lockDue[kind](client, { workspace_id, form_id, ids, now: now() });
    if (still.length === 0) return 0;
    const due = still.map(({ id }) => id);
    const erased = await eraseSubmissions(client, key, due, { keepsOpenInvitations: true });
    await recordRetentionDeletion(client, { ...key, kind, count: due.length });
    return erased.deliveries;
  });
  if (deliveries > 0) wakeQueue();
}
