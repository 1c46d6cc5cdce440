import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { completeJob, insertJobs, type Job, rescheduleJob } from '#kit/queue.ts';
import { columns, json, nullable, only, statement, uuid, word } from '#kit/statement.ts';
import { currentTrace } from '#kit/log.ts';
import { deliverJob, laneOf } from '../delivery-job.ts';
import { meant, type ReplayFilter } from './filter.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

export const filter = columns('workspace_id webhook_id since:timestamp? until:timestamp?', {
  /** The id of the replay: what is younger than it is not meant. */
  id: uuid,
  status: nullable(word<DeliveryStatus>()),
  event: nullable(word<EventKind>()),
});

/** What is on its way already is left alone, so that nothing is sent twice at once. */
export const isMeant = `workspace_id = $workspace_id and webhook_id = $webhook_id and id < $id
      and not is_test and status <> 'Retrying' and ($status is null or status = $status)
      and ($event is null or kind = $event)
      and ($since is null or created_at >= $since) and ($until is null or created_at < $until)`;

/** A replay that goes on, and whether its webhook does. Whoever cancels it waits until the batch is written. */
const lockReplay = statement(
  'webhooks.lock_replay',
  'workspace_id id',
  ['webhook_id reached? active', { filter: json<ReplayFilter>() }],
  `select replays.webhook_id, replays.filter, replays.reached, webhooks.active
     from replays
     join webhooks on webhooks.workspace_id = replays.workspace_id and webhooks.id = replays.webhook_id
    where replays.workspace_id = $workspace_id and replays.id = $id
      and replays.finished_at is null and replays.cancelled_at is null
      for no key update of replays`,
);

/** How many deliveries of a webhook are due now, counted up to `most`. */
const countDue = statement(
  'webhooks.count_due',
  'workspace_id webhook_id most',
  'count',
  `select count(*) as count
     from (select from deliveries
            where workspace_id = $workspace_id and webhook_id = $webhook_id and status = 'Retrying'
              and form_id = (select form_id from webhooks where workspace_id = $workspace_id and id = $webhook_id)
              and next_attempt_at <= now()
            limit $most) as due`,
);

/**
 * Puts the next deliveries of a replay on their way, the oldest first. Who retries one by hand at the same moment
 * either had it before or finds that it is being sent.
 */
const resendNext = statement(
  'webhooks.resend_next',
  ['reached? lane traceparent? limit', filter],
  'id',
  `with next as (
     select id from deliveries
      where ${isMeant} and ($reached is null or id > $reached)
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
     select $workspace_id as workspace_id, id, '${deliverJob}' as kind, $lane as lane,
            jsonb_strip_nulls(jsonb_build_object('trigger', 'replay', 'traceparent', $traceparent)) as payload,
            now() as run_at, now() as at
       from marked
   ),
   enqueued as (${insertJobs('job')})
   select id from marked order by id`,
);

const advanceReplay = statement(
  'webhooks.advance_replay',
  'workspace_id id done reached? finished_at?',
  '',
  `update replays set done = done + $done, reached = coalesce($reached, reached), finished_at = $finished_at
    where workspace_id = $workspace_id and id = $id`,
);

export const cancelReplayRow = statement(
  'webhooks.cancel_replay_row',
  'workspace_id id now',
  'id',
  `update replays set cancelled_at = $now
    where workspace_id = $workspace_id and id = $id and finished_at is null and cancelled_at is null
   returning id`,
);

/** The job that puts the deliveries of one replay on their way. */
export const replayJob = 'webhook.replay';
export type ReplayJobPayload = { replay_id: string };

/**
 * A replay fills up what is due for its webhook to this many deliveries: twice what a quick receiver is sent at once,
 * so it does not slow the replay down, and what happens meanwhile never waits behind more.
 */
const dueAtMost = 64;
/** Seconds until it looks whether there is room again: 320 deliveries a second, in one process. */
const pause = 0.2;

/**
 * The job: a batch, again and again, until nothing is left, it is cancelled, or its webhook is paused, which cancels it.
 * A batch is one transaction, so a process that dies leaves nothing half done, and another goes on from there.
 */
export async function replayBatch(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> {
  const { workspaceId } = job;
  const place = { workspace_id: workspaceId, id: (job.payload as ReplayJobPayload).replay_id };
  const sent = await transaction(database, async (client) => {
    const replay = only(await lockReplay(client, place));
    if (!replay?.active) {
      if (replay) await cancelReplayRow(client, { ...place, now: now() });
      await completeJob(client, job);
      return 0;
    }
    const { webhook_id: webhookId, filter, reached } = replay;
    const [due] = await countDue(client, {
      workspace_id: workspaceId,
      webhook_id: webhookId,
      most: dueAtMost,
    });
    const limit = dueAtMost - due!.count;
    const ids = await resendNext(client, {
      ...meant({ workspaceId, webhookId }, filter, place.id),
      reached,
      lane: laneOf(webhookId),
      traceparent: currentTrace() ?? null,
      limit,
    });
    const isLast = ids.length < limit;
    await advanceReplay(client, {
      ...place,
      done: ids.length,
      reached: ids.at(-1)?.id ?? null,
      finished_at: isLast ? now() : null,
    });
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: pause });
    return ids.length;
  });
  if (sent > 0) wakeQueue();
}
