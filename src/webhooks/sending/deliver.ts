import { now } from '#kit/clock.ts';
import { batchCalls } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { openOutboundSender, type TargetOptions } from '#kit/outbound/outbound.ts';
import type { OnParked } from '#kit/queue/park-job.ts';
import { completeJob, type JobHandler, LeaseLost, settleJobsSql } from '#kit/queue.ts';
import { double, jsonText, nullable, statement, textEnum } from '#kit/statement.ts';
import type { DeliverJobPayload, Trigger } from '../delivery-job.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';
import { createDeliveryFinder, type PrepareRequestServices, prepareDeliveryRequest } from './prepare.ts';
import { type DeliveryOutcome, deliveryOutcomeOf, type EndedRequest } from './settle.ts';

/** SQL condition on `webhooks`: one more failed delivery pauses a webhook that has failed for this long. */
const isHopeless = `(webhooks.pauses_on_failure
                      and webhooks.failing_since < now() - make_interval(secs => $pause_after))`;

/**
 * Writes the outcomes of requests in one statement: the job, the delivery, its attempt, and the health of its
 * webhook. Only jobs that still have their lease are written and returned, so a worker that was frozen and
 * resumes later changes nothing. If the webhook of a delivery was deleted, only the job is ended.
 *
 * A webhook's row is written when its health changes, not for each delivery. It is skipped while another
 * statement has locked it, because that statement writes an equal value. A webhook that is never paused
 * automatically keeps failing; a paused webhook does not start to fail. failing_since is the creation time of
 * the first failed delivery, so that a replay from that time includes it.
 */
export const settleDeliveries = statement(
  {
    /** A JSON array of Outcome (settle.ts). */
    outcomes: jsonText,
    /** A webhook is paused after this many seconds in which every delivery failed; null: never. */
    pause_after: nullable(double),
  },
  'id',
)`
  with outcome as materialized (
    select *, now() + make_interval(secs => delay) as run_at from json_to_recordset($outcomes) as outcome (
      workspace_id uuid, id uuid, lease_token uuid, status text, delay double precision, trigger text, url text,
      request_headers json, body_sha256 text, body_bytes integer, started_at timestamptz, response_status integer,
      response_ms integer, dns_ms real, connect_ms real, tls_ms real, first_byte_ms real, response_headers json,
      response_body text, reason text)
  ),
  ${settleJobsSql('outcome')},
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
  select id from settled_job`;

/** Ends a delivery without a request, and records the reason as an attempt. */
const failDelivery = statement(['workspace_id id reason now', { trigger: textEnum<Trigger>() }], '')`
  with failed as (
    update deliveries
       set status = 'Failed', attempts = attempts + 1, next_attempt_at = null, response_status = null,
           response_ms = null
     where workspace_id = $workspace_id and id = $id and status = 'Retrying'
    returning workspace_id, id, attempts
  ),
  attempt as (
    insert into attempts (workspace_id, delivery_id, attempt, trigger, started_at, response_ms, reason)
    select workspace_id, id, attempts, $trigger, $now, 0, $reason from failed)
  select`;

export type DeliveryServices = PrepareRequestServices &
  TargetOptions & {
    database: Database;
    /** Seconds to wait after the first failure, the second, and so on. */
    retryDelays: readonly number[];
    timeoutSeconds: number;
    /** A webhook is paused after this many days in which every delivery failed; 0: never. */
    pauseDays?: number;
    /** Counts the status of each delivery after a request. */
    onAttempt?: ((status: DeliveryStatus) => void) | undefined;
  };

/**
 * The number of concurrent requests per webhook. A receiver that hangs occupies this many connections, and
 * delays no other webhook. A receiver that responds within a second gets the higher limit, and its next
 * deliveries are prepared in advance.
 */
export const webhookConcurrency = { perLane: 8, perQuickLane: 32, ahead: 256 } as const;

/**
 * The maximum number of deliveries that one statement settles, and the maximum number of such statements that
 * run at the same time.
 */
const together = { most: 128, atOnce: 2, leastBeside: 128 } as const;
const secondsPerDay = 86_400;

/**
 * Returns the handler of the jobs that send deliveries: each job finds, prepares, sends and settles one
 * request for one delivery. Concurrent deliveries are read and settled in batches, so that each costs a small
 * part of three round trips.
 */
export function createDeliveryHandler(context: DeliveryServices): JobHandler {
  const { database, timeoutSeconds, retryDelays } = context;
  const outbound = openOutboundSender({ ...context, timeoutMs: timeoutSeconds * 1_000 });
  const find = createDeliveryFinder(database);
  const settle = batchCalls((outcomes: readonly DeliveryOutcome[]) => settleAll(context, outcomes), together);

  return async (job, signal, turn) => {
    const delivery = await find(job, turn);
    // The webhook was deleted, together with its delivery log.
    if (delivery?.status !== 'Retrying') return completeJob(database, job);
    const startedAt = now();
    const { trigger } = job.payload as DeliverJobPayload;
    const request = prepareDeliveryRequest(context, { trigger, startedAt }, delivery);
    const result = 'kind' in request ? request : await outbound.sendRequest({ ...request, signal });
    turn.leave();
    // A refused request was never sent.
    const sent = 'kind' in request || result.kind === 'refusal' ? null : request;
    const ended: EndedRequest = { job, trigger, delivery, startedAt, sent, result };
    const outcome = deliveryOutcomeOf(ended, retryDelays);
    if (!(await settle(outcome))) throw new LeaseLost(job);
    context.onAttempt?.(outcome.status);
  };
}

/** Shows in the delivery log why a parked delivery is not sent. A manual retry sends it. */
export const failParkedDelivery: OnParked = async (client, { workspaceId, id, payload }, reason) => {
  const { trigger } = payload as DeliverJobPayload;
  await failDelivery(client, { workspace_id: workspaceId, id, trigger, reason, now: now() });
};

/** Returns for each outcome whether it was written. An outcome whose lease was lost is not written. */
async function settleAll(
  { database, pauseDays = 0 }: DeliveryServices,
  outcomes: readonly DeliveryOutcome[],
): Promise<boolean[]> {
  const settled = await settleDeliveries(database, {
    outcomes: JSON.stringify(outcomes),
    pause_after: pauseDays > 0 ? pauseDays * secondsPerDay : null,
  });
  const ids = new Set(settled.map(({ id }) => id));
  return outcomes.map(({ id }) => ids.has(id));
}
