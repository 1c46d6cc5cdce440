import { newId, now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { currentTrace } from '#kit/log.ts';
import type { Actor } from '#kit/operation.ts';
import { announceJobs, insertJobsSql, type Job } from '#kit/queue.ts';
import {
  columns,
  nullable,
  onlyRow,
  type Queryable,
  requireRow,
  statement,
  textEnum,
  uuid,
} from '#kit/statement.ts';
import { readTask, readTasks, type TaskRow } from '#tasks/read-tasks.ts';
import { cancelTask, createTask, runTaskStep } from '#tasks/run-tasks.ts';
import { deliverJobKind, laneOf } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import { isFormOfSql, lockWebhook } from '../record-event.ts';
import { type ReplayFilter, toReplayParameters } from '../replay-filter.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

const filter = columns('workspace_id webhook_id since:timestamp? until:timestamp?', {
  /** The id of the replay. Deliveries with a later id are not included. */
  id: uuid,
  status: nullable(textEnum<DeliveryStatus>()),
  event: nullable(textEnum<EventKind>()),
});

/** Deliveries that are being sent are left out, so that none is sent twice at the same time. */
const isSelectedSql = `workspace_id = $workspace_id and webhook_id = $webhook_id and id < $id
      and not is_test and status <> 'Retrying' and ($status is null or status = $status)
      and ($event is null or kind = $event)
      and ($since is null or created_at >= $since) and ($until is null or created_at < $until)`;

const countSelected = statement(filter, 'count')`
  select count(*) as count from deliveries where ${isSelectedSql}`;

/** Returns whether a webhook is active, and how many of its deliveries are due, counted up to `most`. */
const countDue = statement('workspace_id webhook_id most', 'active count')`
  select w.active,
         (select count(*)
            from (select from deliveries d
                   where d.workspace_id = $workspace_id and d.webhook_id = $webhook_id and d.status = 'Retrying'
                     and ${isFormOfSql('d.form_id', 'w')} and d.next_attempt_at <= now()
                   limit $most) as due) as count
    from webhooks w where w.workspace_id = $workspace_id and w.id = $webhook_id`;

/**
 * Enqueues the next deliveries of a replay, oldest first. If a person retries one of them at the same moment,
 * either their retry came first or they get a conflict.
 */
const resendNext = statement(['reached? lane traceparent? limit', filter], 'id')`
  with next as (
    select id from deliveries
     where ${isSelectedSql} and ($reached is null or id > $reached)
     order by id
     limit $limit
       for update
  ),
  marked as (
    update deliveries set status = 'Retrying', next_attempt_at = now()
      from next
     where deliveries.workspace_id = $workspace_id and deliveries.id = next.id
    returning deliveries.id
  ),
  job as materialized (
    select $workspace_id as workspace_id, id, '${deliverJobKind}' as kind, $lane as lane,
           jsonb_strip_nulls(jsonb_build_object('trigger', 'replay', 'traceparent', $traceparent)) as payload,
           now() as run_at, now() as at
      from marked
  ),
  enqueued as (${insertJobsSql('job')})
  select id from marked order by id`;

/** The job that enqueues the deliveries of a replay. */
export const replayJobKind = 'webhook.replay';

/**
 * A replay enqueues deliveries until this many are due for its webhook. That is twice the number that a quick
 * receiver is sent at the same time, so the replay is not slowed down. New events never wait behind more than
 * this.
 */
const dueAtMost = 64;
/** Seconds until the replay checks for room again: 320 deliveries a second, in one process. */
const pause = 0.2;

type WebhookKey = { workspaceId: string; webhookId: string };
/** The last delivery that a replay has reached. Deliveries are replayed in ascending order of ids. */
type Reached = { reached?: string };

/** Returns the number of deliveries that a replay would send now. */
export async function countReplayDeliveries(
  db: Queryable,
  place: WebhookKey,
  filter: ReplayFilter,
): Promise<number> {
  const [counted] = await countSelected(db, toReplayParameters(place, filter, newId()));
  return counted!.count;
}

const replaysOf = (workspaceId: string) =>
  ({ workspace_id: workspaceId, kinds: ['webhooks.replay'] }) as const;

/**
 * Starts a task that sends deliveries of a webhook again, with their original ids. Deliveries that are being
 * sent, tests and later deliveries are not included.
 * @throws ApiError not_found; conflict if the webhook is paused, or another replay of it is running.
 */
export async function startReplay(
  { database }: { database: Database },
  place: WebhookKey,
  { filter, by }: { filter: ReplayFilter; by: Actor },
): Promise<Replay> {
  const id = newId();
  const { workspaceId, webhookId } = place;
  await transaction(database, async (client) => {
    const webhook = requireRow(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    if (!webhook.active) throw new ApiError('conflict', 'The webhook is paused. Resume it first.');
    const running = { ...replaysOf(workspaceId), subject_id: webhookId, states: ['running'] };
    if ((await readTasks(client, running, { limit: 1 })).length > 0)
      throw new ApiError(
        'conflict',
        'Another replay of this webhook is running. Wait for it to finish, or cancel it.',
      );
    const [counted] = await countSelected(client, toReplayParameters(place, filter, id));
    const total = counted!.count;
    await createTask(
      client,
      {
        workspaceId,
        id,
        kind: 'webhooks.replay',
        ...(webhook.form_id !== null && { formId: webhook.form_id }),
        subjectId: webhookId,
        input: filter,
        by,
        total,
      },
      total === 0 ? undefined : { kind: replayJobKind, lane: `${replayJobKind} ${webhookId}` },
    );
  });
  // Not the queue's wake: the command line has no queue. A running server receives this announcement.
  await announceJobs(database);
  return readReplay(database, { workspaceId, replayId: id });
}

/**
 * Runs a step of a replay. The step is repeated until nothing is left, or until the replay is canceled, by a
 * person or because its webhook was paused or deleted.
 */
export const runReplayBatch = (
  context: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> =>
  runTaskStep(context, job, 0, async (client, { task, at }) => {
    const place = { workspaceId: job.workspaceId, webhookId: task.subject_id! };
    const key = { workspace_id: place.workspaceId, webhook_id: place.webhookId };
    const webhook = onlyRow(await countDue(client, { ...key, most: dueAtMost }));
    if (!webhook?.active) {
      await cancelTask(client, { workspace_id: place.workspaceId, id: task.id, now: at });
      return { isLast: true };
    }
    const limit = dueAtMost - webhook.count;
    const ids = await resendNext(client, {
      ...toReplayParameters(place, task.input as ReplayFilter, task.id),
      reached: (task.result as Reached).reached ?? null,
      lane: laneOf(place.webhookId),
      traceparent: currentTrace() ?? null,
      limit,
    });
    const last = ids.at(-1);
    return {
      done: ids.length,
      ...(last && { result: { reached: last.id } satisfies Reached }),
      isLast: ids.length < limit,
      isWaking: ids.length > 0,
      delay: pause,
    };
  });

/**
 * Cancels a replay. Deliveries that are already enqueued are still sent.
 * @throws ApiError not_found; conflict if it has already ended.
 */
export async function cancelReplay(
  { database }: { database: Queryable },
  place: { workspaceId: string; replayId: string },
): Promise<Replay> {
  const key = { workspace_id: place.workspaceId, id: place.replayId };
  await readReplay(database, place);
  if ((await cancelTask(database, { ...key, now: now() })).length === 0)
    throw new ApiError('conflict', 'This replay has already ended.');
  return readReplay(database, place);
}

/** Returns a replay. @throws ApiError not_found. */
export const readReplay = async (
  db: Queryable,
  { workspaceId, replayId }: { workspaceId: string; replayId: string },
): Promise<Replay> => present(await readTask(db, { ...replaysOf(workspaceId), id: replayId }));

/** Returns the last ten replays of a webhook, newest first. */
export const listReplays = async (db: Queryable, { workspaceId, webhookId }: WebhookKey): Promise<Replay[]> =>
  (await readTasks(db, { ...replaysOf(workspaceId), subject_id: webhookId }, { limit: 10 })).map(present);

/**
 * A replay as the API returns it. `done` of `total` deliveries were enqueued. Deliveries that changed in the
 * meantime are skipped.
 */
type Replay = ReturnType<typeof present>;

const present = ({ id, subject_id, input, total, done, created_at, state, ...task }: TaskRow) => ({
  id,
  webhook_id: subject_id!,
  filter: input as ReplayFilter,
  total,
  done,
  created_at,
  failed_reason: task.failed_reason,
  state,
  /** When the replay finished or was canceled. */
  ended_at: task.cancelled_at ?? task.finished_at,
});
