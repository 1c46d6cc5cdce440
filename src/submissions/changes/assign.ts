import { newId, now } from '#kit/clock.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { boolean, onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import { readStages, stageIdSql } from '#workspaces/stages.ts';
import type { FormKey } from '../change-event.ts';
import type { ChangedBy } from '../differences.ts';
import { changedByColumns } from '../history.ts';

/** The stage to move submissions to, or the member to assign them to (null: to no one). */
export type Assignment = { stage_id?: string; assignee_id?: string | null };

/** Lists the members. Imports find each by one of the labels: the email, and a name that no other member has. */
export const listMembers = statement('workspace_id', 'id:text name labels:texts')`
  select u.id, u.name, case count(*) over (partition by u.name) when 1 then array[u.email, u.name] else array[u.email] end as labels
    from members m join users u on u.id = m.user_id where m.workspace_id = $workspace_id`;

/** Locks a member, so that they stay in the workspace until the submission is assigned. */
const lockMember = statement('workspace_id user_id', 'user_id')`
  select user_id from members where workspace_id = $workspace_id and user_id = $user_id for key share`;

/** Returns the locked member; null if the person is not a member. */
export async function lockAssignee(
  db: Queryable,
  workspace_id: string,
  user_id: string | null = null,
): Promise<string | null> {
  return user_id === null
    ? null
    : (onlyRow(await lockMember(db, { workspace_id, user_id }))?.user_id ?? null);
}

/** @throws ApiError validation_error if the workspace lacks the stage or the member. */
export async function requireAssignable(
  db: Queryable,
  workspaceId: string,
  { stage_id, assignee_id }: Assignment,
): Promise<void> {
  const errors: ErrorItem[] = [];
  if (stage_id !== undefined && !(await readStages(db, workspaceId)).some(({ id }) => id === stage_id))
    errors.push({
      field: 'stage_id',
      message: 'The workspace has no stage with this id. List stages returns them.',
      code: 'invalid_choice',
    });
  if (typeof assignee_id === 'string' && (await lockAssignee(db, workspaceId, assignee_id)) === null)
    errors.push({
      field: 'assignee_id',
      message: 'This person is not a member of the workspace.',
      code: 'invalid_reference',
    });
  if (errors.length > 0) throw new ApiError('validation_error', errors[0]!.message, { errors });
}

/** A difference as in `findDifferences`, in SQL. */
const differenceSql = (part: 'stage' | 'assignee', from: string, to: string): string =>
  `select json_strip_nulls(json_build_object('part', '${part}', 'name', '', 'from', ${from}, 'to', ${to})) as difference
   where ${from} is distinct from ${to}`;

/**
 * Moves submissions to a stage, or assigns them, and records each change in the history. Works in the order
 * of ids, so that two transactions cannot deadlock. Does nothing if the assignee is no longer a member.
 * @returns the submissions that now have this stage and assignee, including unchanged ones.
 */
const assignSubmissions = statement(
  [
    'workspace_id form_id ids change_ids stage_id:text? assignee_id:text? bulk_id? now',
    { assigns: boolean },
    changedByColumns,
  ],
  'id',
)`
  with listed as (
    select * from unnest($ids, $change_ids) as listed (id, change_id)),
  locked as (
    select s.id, s.updated_at, s.assignee_id, ${stageIdSql('s')} as stage_id from submissions s
    where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids) and s.trashed_at is null
      and (not $assigns or $assignee_id is null
           or exists (select from members m where m.workspace_id = $workspace_id and m.user_id = $assignee_id))
    order by s.id for update of s),
  wanted as (
    select locked.*, listed.change_id, coalesce($stage_id, locked.stage_id) as next_stage_id,
      case when $assigns then $assignee_id else locked.assignee_id end as next_assignee_id
    from locked join listed on listed.id = locked.id),
  moved as (
    update submissions s
    set stage_id = coalesce($stage_id, s.stage_id), assignee_id = wanted.next_assignee_id,
        updated_at = greatest($now, wanted.updated_at + interval '1 ms')
    from wanted
    where s.workspace_id = $workspace_id and s.id = wanted.id
      and (wanted.stage_id, wanted.assignee_id) is distinct from (wanted.next_stage_id, wanted.next_assignee_id)
    returning s.id),
  changes as (
    insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
    select $workspace_id, wanted.id, wanted.change_id, 'edited', $changed_by, $api_key_id, $through, $bulk_id, $now,
      (select json_agg(difference) from (
         ${differenceSql('stage', 'wanted.stage_id', 'wanted.next_stage_id')}
         union all
         ${differenceSql('assignee', 'wanted.assignee_id', 'wanted.next_assignee_id')}) differences)
    from moved join wanted on wanted.id = moved.id)
  select id from wanted`;

/** Seconds before the email, in which the assignment can be undone. */
const emailDelay = 10;

/** Emails the person to whom submissions were assigned, unless they assigned them to themselves. */
export async function notifyAssignee(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  userId: string,
  {
    by: { changed_by, api_key_id },
    ...about
  }: { by: Pick<ChangedBy, 'changed_by' | 'api_key_id'> } & ({ submissionId: string } | { bulkId: string }),
): Promise<void> {
  if (userId === changed_by) return;
  const by = { changed_by, api_key_id };
  const event = { kind: 'submissions_assigned', userId, formId, by, ...about } as const;
  await enqueueEmailEvent(db, workspaceId, event, emailDelay);
}

/**
 * Moves or assigns submissions in the caller's transaction.
 * @returns the number of submissions that now have this stage and assignee, including unchanged ones.
 */
export async function assignInTransaction(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  ids: readonly string[],
  { stage_id, assignee_id, by }: Assignment & { by: ChangedBy },
): Promise<number> {
  const assigned = await assignSubmissions(db, {
    workspace_id: workspaceId,
    form_id: formId,
    ids: [...ids],
    change_ids: ids.map(() => newId()),
    stage_id: stage_id ?? null,
    assigns: assignee_id !== undefined,
    assignee_id: assignee_id ?? null,
    ...by,
    now: now(),
  });
  return assigned.length;
}
