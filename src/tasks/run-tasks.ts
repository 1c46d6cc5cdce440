import { now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { Actor } from '#kit/operation.ts';
import { completeJob, enqueueJob, type Job, rescheduleJob } from '#kit/queue.ts';
import { columns, integer, jsonb, onlyRow, type Queryable, statement, textEnum } from '#kit/statement.ts';
import { channelByActorKind, personIdOf } from '#workspaces/authenticate.ts';
import type { TaskKind } from './shapes.ts';

export const mostKeptProblems = 100;

/** A skipped line of an import, and the reason. */
export type TaskProblem = { line: number; message: string };

/** The columns of a task that come from its request. */
const taskColumns = columns(
  'id form_id? subject_id:uuid? requested_by? api_key_id? through:text created_at secret?',
  { kind: textEnum<TaskKind>(), input: jsonb<object>(), result: jsonb<object>() },
);

/**
 * Stores a task with its items. Stores nothing if the form is deleted, or if the same change already has an
 * undo.
 */
const insertTask = statement(
  [
    'workspace_id id form_id? subject_id:uuid? requested_by? api_key_id? through:text secret? total:integer refused',
    'problems created_at finished_at? items:jsonText',
    { kind: textEnum<TaskKind>(), input: jsonb<object>(), result: jsonb<object>() },
  ],
  'id',
)`
  with task as (
    insert into tasks (workspace_id, id, kind, form_id, subject_id, requested_by, api_key_id, through, input, secret,
                       total, refused, problems, result, created_at, finished_at)
    select $workspace_id, $id, $kind, $form_id, $subject_id, $requested_by, $api_key_id, $through, $input, $secret,
           $total, $refused, $problems::jsonb, $result, $created_at, $finished_at
     where $form_id is null
        or exists (select from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null)
    on conflict (workspace_id, subject_id) where kind = 'submissions.undo' do nothing
    returning workspace_id, id),
  items as (
    insert into task_items (workspace_id, task_id, position, item)
    select task.workspace_id, task.id, given.position, given.item
      from task cross join json_array_elements($items) with ordinality as given (item, position))
  select id from task`;

/** Adds items after those that are already waiting. */
export const addTaskItems = statement('workspace_id id items:jsonText', '')`
  insert into task_items (workspace_id, task_id, position, item)
  select $workspace_id, $id, given.position + coalesce((
           select max(position) from task_items where workspace_id = $workspace_id and task_id = $id), 0), given.item
    from json_array_elements($items) with ordinality as given (item, position)`;

/** Locks a task that has not ended. A cancellation waits until the step is stored. */
const lockTask = statement('workspace_id id', taskColumns)`
  select id, kind, form_id, subject_id, requested_by, api_key_id, through, input, secret, result, created_at
    from tasks
   where workspace_id = $workspace_id and id = $id and finished_at is null and cancelled_at is null
     for no key update`;

/** Removes the first items, in the transaction that processes them. */
const removeFirstItems = statement('workspace_id id limit', {
  item: jsonb<object>(),
  position: integer,
})`
  with taken as (
    delete from task_items where workspace_id = $workspace_id and task_id = $id and position in (
      select position from task_items where workspace_id = $workspace_id and task_id = $id
       order by position limit $limit)
    returning position, item)
  select position, item from taken order by position`;

/** Reads the first item without removing it. */
export const findFirstTaskItem = statement('workspace_id id', {
  item: jsonb<object>(),
})`
  select item from task_items where workspace_id = $workspace_id and task_id = $id order by position limit 1`;

/** Stores the progress. Sealed input is deleted at the end. */
export const advanceTask = statement(
  ['workspace_id id done refused problems most finished_at?', { result: jsonb<object>() }],
  '',
)`
  update tasks
     set done = done + $done, refused = refused + $refused, result = $result, finished_at = $finished_at,
         secret = case when $finished_at is null then secret end,
         problems = case when jsonb_array_length(problems) < $most then problems || $problems::jsonb else problems end
   where workspace_id = $workspace_id and id = $id`;

export const cancelTask = statement('workspace_id id now', 'id')`
  update tasks set cancelled_at = $now
   where workspace_id = $workspace_id and id = $id and finished_at is null and cancelled_at is null
  returning id`;

export type LockedTask = Awaited<ReturnType<typeof lockTask>>[number];

/** A task that is about to be stored. */
export type NewTask = {
  workspaceId: string;
  /** Also the ID of its job. */
  id: string;
  kind: TaskKind;
  by: Actor;
  /** The form of the task. The task is deleted with it. */
  formId?: string;
  subjectId?: string;
  input?: object;
  /** Sealed input, deleted at the end. */
  secret?: Buffer;
  items?: readonly object[];
  total: number;
  refused?: number;
  problems?: readonly TaskProblem[];
  result?: object;
};

/**
 * Stores a task with its job, in the caller's transaction. A task without work ends immediately.
 * @param queued the job's kind and lane: tasks in one lane run one after another.
 * @returns whether it was stored. False if the form is deleted, or if an undo of the same change is already
 * stored.
 */
export async function createTask(
  db: Queryable,
  { workspaceId, id, kind, by, items = [], total, problems = [], ...task }: NewTask,
  queued: { kind: string; lane: string } | undefined,
): Promise<boolean> {
  const stored = await insertTask(db, {
    workspace_id: workspaceId,
    id,
    kind,
    form_id: task.formId ?? null,
    subject_id: task.subjectId ?? null,
    requested_by: personIdOf(by),
    api_key_id: by.kind === 'key' ? by.id : null,
    through: channelByActorKind[by.kind],
    input: task.input ?? {},
    secret: task.secret ?? null,
    items: JSON.stringify(items),
    total,
    refused: task.refused ?? 0,
    problems: JSON.stringify(problems.slice(0, mostKeptProblems)),
    result: task.result ?? {},
    created_at: timeOfId(id),
    finished_at: queued ? null : now(),
  });
  if (stored.length > 0 && queued)
    await enqueueJob(db, { workspace_id: workspaceId, id, ...queued, payload: {}, delay: 0 });
  return stored.length > 0;
}

export type TaskStepResult = {
  done?: number;
  refused?: number;
  problems?: readonly TaskProblem[];
  result?: object;
  /** Whether the step enqueued jobs, such as deliveries. */
  isWaking?: boolean;
  /** Whether this is the last step. By default, a step with fewer items than the limit is the last. */
  isLast?: boolean;
  /** Seconds until the next step. */
  delay?: number;
};

type Work<Item> = (
  db: Queryable,
  step: { task: LockedTask; items: readonly Item[]; isLast: boolean; at: Date },
) => Promise<TaskStepResult>;

/**
 * Runs one step of a job's task: removes up to `limit` items, processes them and stores the progress. One
 * transaction does this, so that each item is processed once even if the process is killed. The job completes
 * with the last step.
 * @throws LeaseLost if this worker no longer has the job's lease.
 */
export async function runTaskStep<Item extends object>(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  job: Job,
  limit: number,
  work: Work<Item>,
): Promise<void> {
  const key = { workspace_id: job.workspaceId, id: job.id };
  const isWaking = await transaction(database, async (client) => {
    const task = onlyRow(await lockTask(client, key));
    if (!task) {
      await completeJob(client, job);
      return false;
    }
    const items = (await removeFirstItems(client, { ...key, limit })).map(({ item }) => item as Item);
    const at = now();
    const step = await work(client, { task, items, isLast: items.length < limit, at });
    const { isLast = items.length < limit } = step;
    await advanceTask(client, {
      ...key,
      done: step.done ?? 0,
      refused: step.refused ?? 0,
      problems: JSON.stringify((step.problems ?? []).slice(0, mostKeptProblems)),
      most: mostKeptProblems,
      result: step.result ?? task.result,
      finished_at: isLast ? at : null,
    });
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: step.delay ?? 0 });
    return step.isWaking ?? false;
  });
  if (isWaking) wakeQueue();
}
