import { settleJobs } from '#kit/queue.ts';
import { bytes, columns, double, jsonText, nullable, statement, word } from '#kit/statement.ts';
import type { Trigger } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../queries.ts';

export const deliveryColumns = columns(
  'id attempts:integer url secret? header_names active occurred_at snapshot',
  {
    status: word<DeliveryStatus>(),
    /** Null as soon as its day is over. */
    previous_secret: nullable(bytes),
    /** Null also for a test that goes to another address: they may be passwords for this one. */
    headers: nullable(bytes),
    kind: word<EventKind>(),
  },
);

/**
 * All that requests are made of, for many deliveries. Those that are gone, and those whose event is larger than asked
 * for, are not among the rows.
 *
 * Each row is looked up by its whole key, whatever the planner thinks of the tables: with a plain join and without
 * statistics it read all events of the workspace for each delivery (measured: 600 ms instead of 2 for 22 of 3,000).
 */
export const findDeliveries = statement(
  'webhooks.find_deliveries',
  'workspace_ids ids most_bytes:integer',
  deliveryColumns,
  `select wanted.id, delivery.status, delivery.attempts, coalesce(delivery.test_url, webhook.url) as url, webhook.secret,
          case when webhook.previous_secret_until > now() then webhook.previous_secret end as previous_secret,
          case when delivery.test_url is null then webhook.headers end as headers, webhook.header_names, webhook.active,
          event.kind, event.occurred_at, event.snapshot::text as snapshot
     from unnest($workspace_ids, $ids) as wanted (workspace_id, id)
    cross join lateral (
       select status, attempts, webhook_id, event_id, test_url from deliveries
        where workspace_id = wanted.workspace_id and id = wanted.id limit 1) as delivery
    cross join lateral (
       select url, secret, previous_secret, previous_secret_until, headers, header_names, active from webhooks
        where workspace_id = wanted.workspace_id and id = delivery.webhook_id limit 1) as webhook
    cross join lateral (
       select kind, occurred_at, snapshot from events
        where workspace_id = wanted.workspace_id and id = delivery.event_id  and pg_column_size(snapshot) <= $most_bytes limit 1) as event`,
);

/** Of `webhooks`: whether it has failed for so long that it is paused when one more delivery ends so. */
const isHopeless = `(webhooks.pauses_on_failure
                      and webhooks.failing_since < now() - make_interval(secs => $pause_after))`;

/**
 * The outcomes of requests, in one statement: what becomes of the job, of the delivery, a line of its history, and
 * how the webhook fares. Only what still has its lease is written, so a worker that was frozen and woke up changes
 * nothing; those are not among the rows. A delivery whose webhook was deleted meanwhile leaves nothing but its job's
 * end.
 *
 * A webhook's row is written when its luck turns, not at each delivery, and skipped while another has it: whoever has
 * it writes the same. One that is not to be paused by itself goes on failing; one that is paused already does not begin
 * to. It fails since its first such delivery was made and not since that was found out, so that a replay of what failed
 * since then has that one, too.
 */
export const settleDeliveries = statement(
  'webhooks.settle_deliveries',
  {
    /** A JSON array of Outcome (settle.ts). */
    outcomes: jsonText,
    /** After so many seconds of failures only, a webhook is paused; null: never. */
    pause_after: nullable(double),
  },
  'id',
  `with outcome as materialized (
     select *, now() + make_interval(secs => delay) as run_at from json_to_recordset($outcomes) as outcome (
       workspace_id uuid, id uuid, lease_token uuid, status text, delay double precision, trigger text, url text,
       request_headers json, body_sha256 text, body_bytes integer, started_at timestamptz, response_status integer,
       response_ms integer, dns_ms real, connect_ms real, tls_ms real, first_byte_ms real, response_headers json,
       response_body text, reason text)
   ),
   ${settleJobs('outcome')},
   delivery as (
     update deliveries
        set status = outcome.status, attempts = attempts + 1,
            next_attempt_at = outcome.run_at,
            response_status = outcome.response_status, response_ms = outcome.response_ms
       from outcome
       join settled_job on settled_job.workspace_id = outcome.workspace_id and settled_job.id = outcome.id
      where deliveries.workspace_id = outcome.workspace_id and deliveries.id = outcome.id
     returning deliveries.workspace_id, deliveries.id, deliveries.attempts, deliveries.webhook_id, deliveries.status,
               deliveries.is_test, deliveries.created_at
   ),
   attempt as (
     insert into attempts (workspace_id, delivery_id, attempt, trigger, url, request_headers, body_sha256, body_bytes,
                           started_at, response_status, response_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
                           response_headers, response_body, reason)
     select workspace_id, id, delivery.attempts, trigger, url, request_headers, decode(body_sha256, 'hex'), body_bytes,
            started_at, response_status, response_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
            response_headers, response_body, reason
       from delivery join outcome using (workspace_id, id)
   ),
   luck as (
     select workspace_id, webhook_id, bool_or(status = 'Success') as has_success, bool_or(status = 'Failed') as has_end,
            min(created_at) filter (where attempts = 1) as since
       from delivery
      where not is_test
      group by workspace_id, webhook_id
   ),
   turning as (
     select luck.workspace_id, luck.webhook_id, luck.has_success, luck.has_end, coalesce(luck.since, now()) as since
       from luck
       join webhooks on webhooks.workspace_id = luck.workspace_id and webhooks.id = luck.webhook_id
      where case when luck.has_success then webhooks.failing_since is not null
                 else webhooks.active and (webhooks.failing_since is null or luck.has_end and ${isHopeless}) end
   ),
   held as (
     select workspace_id, id, ${isHopeless} as is_hopeless
       from webhooks
      where workspace_id = any (array(select workspace_id from turning)) and id = any (array(select webhook_id from turning))
        for no key update skip locked
   ),
   turned as (
     select held.workspace_id, held.id, turning.has_success, turning.since, now() as at,
            turning.has_end and held.is_hopeless as is_hopeless
       from held
       join turning on turning.workspace_id = held.workspace_id and turning.webhook_id = held.id
   ),
   webhook as (
     update webhooks
        set failing_since = case when has_success then null else coalesce(failing_since, turned.since) end,
            active = active and not coalesce(not has_success and is_hopeless, false),
            paused_at = case when active and not has_success and is_hopeless then turned.at else paused_at end,
            paused_by = case when active and not has_success and is_hopeless then 'failure' else paused_by end
       from turned
      where webhooks.workspace_id = turned.workspace_id and webhooks.id = turned.id
   )
   select id from settled_job`,
);

/** Ends a delivery without a request, with a line in its history that says why. */
export const failDelivery = statement(
  'webhooks.fail_delivery',
  ['workspace_id id reason now', { trigger: word<Trigger>() }],
  '',
  `with failed as (
     update deliveries
        set status = 'Failed', attempts = attempts + 1, next_attempt_at = null, response_status = null,
            response_ms = null
      where workspace_id = $workspace_id and id = $id and status = 'Retrying'
     returning workspace_id, id, attempts
   ),
   attempt as (
     insert into attempts (workspace_id, delivery_id, attempt, trigger, started_at, response_ms, reason)
     select workspace_id, id, attempts, $trigger, $now, 0, $reason from failed)
   select`,
);
