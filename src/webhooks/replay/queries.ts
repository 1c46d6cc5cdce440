import { insertJobs } from '#kit/queue.ts';
import { failedReason } from '#kit/queue/queries.ts';
import { columns, json, nullable, statement, timestamp, uuid, word } from '#kit/statement.ts';
import { deliverJob } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../queries.ts';
import type { ReplayFilter } from './filter.ts';

const filter = columns('workspace_id webhook_id since:timestamp? until:timestamp?', {
  /** The id of the replay: what is younger than it is not meant. */
  id: uuid,
  status: nullable(word<DeliveryStatus>()),
  event: nullable(word<EventKind>()),
});

/** What is on its way already is left alone, so that nothing is sent twice at once. */
const isMeant = `workspace_id = $workspace_id and webhook_id = $webhook_id and id < $id
      and not is_test and status <> 'Retrying' and ($status is null or status = $status)
      and ($event is null or kind = $event)
      and ($since is null or created_at >= $since) and ($until is null or created_at < $until)`;

export const countMeant = statement(
  'webhooks.count_meant',
  filter,
  'count',
  `select count(*) as count from deliveries where ${isMeant}`,
);

/** Kept from changing, so that a webhook's replays begin one by one. */
export const lockForReplay = statement(
  'webhooks.lock_for_replay',
  'workspace_id id',
  'form_id active is_replaying:boolean',
  `select webhooks.form_id, webhooks.active,
          exists (select from replays
                   where replays.workspace_id = webhooks.workspace_id and replays.webhook_id = webhooks.id
                     and finished_at is null and cancelled_at is null
                     and ${failedReason('replays', 'replay_id')} is null) as is_replaying
     from webhooks
     join forms on forms.workspace_id = webhooks.workspace_id and forms.id = webhooks.form_id
    where webhooks.workspace_id = $workspace_id and webhooks.id = $id and forms.deleted_at is null
      for no key update of webhooks`,
);

export const replayColumns = columns(
  'id webhook_id total:integer done created_at cancelled_at:timestamp? finished_at?',
  'failed_reason?',
  { filter: json<ReplayFilter>() },
);
const replay = `id, webhook_id, filter, total, done, created_at, cancelled_at, finished_at,
  ${failedReason('replays', 'replay_id')} as failed_reason`;

export const insertReplay = statement(
  'webhooks.insert_replay',
  [
    'workspace_id id form_id webhook_id requested_by? total:integer created_at',
    {
      filter: json<ReplayFilter>(),
      /** Set when there is nothing to do. */
      finished_at: nullable(timestamp),
    },
  ],
  replayColumns,
  `insert into replays (workspace_id, id, form_id, webhook_id, requested_by, filter, total, created_at, finished_at)
   values ($workspace_id, $id, $form_id, $webhook_id, $requested_by, $filter, $total, $created_at, $finished_at)
   returning ${replay}`,
);

/** A replay that goes on, and whether its webhook does. Whoever cancels it waits until the batch is written. */
export const lockReplay = statement(
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
export const countDue = statement(
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
export const resendNext = statement(
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

export const advanceReplay = statement(
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

export const findReplay = statement(
  'webhooks.find_replay',
  'workspace_id id',
  replayColumns,
  `select ${replay} from replays where workspace_id = $workspace_id and id = $id`,
);

/** The last replays of a webhook, newest first. */
export const selectReplays = statement(
  'webhooks.select_replays',
  'workspace_id webhook_id limit',
  replayColumns,
  `select ${replay} from replays
    where workspace_id = $workspace_id and webhook_id = $webhook_id
    order by id desc
    limit $limit`,
);
