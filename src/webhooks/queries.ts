import { insertJobs } from '#kit/queue.ts';
import {
  bigint,
  boolean,
  bytes,
  type Column,
  double,
  integer,
  json,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import type { Plan } from '#workspaces/plans.ts';
import { deliverJob, type Trigger } from './delivery-job.ts';
import type { EventKind, Snapshot } from './event.ts';

/** Specification, "Webhook delivery status". */
export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const kinds: Column<EventKind[]> = { pg: texts.pg };
const timestamps: Column<Date[]> = { pg: 'timestamp with time zone[]' };

// Webhooks ------------------------------------------------------------------------------------------------

/** The plan that a form's webhooks are under. Locks the form, so that its webhooks are added one by one. */
export const lockFormForWebhook = statement(
  'webhooks.lock_form_for_webhook',
  { workspace_id: uuid, form_id: uuid },
  { plan: word<Plan>() },
  `select workspaces.plan
     from forms
     join workspaces on workspaces.id = forms.workspace_id
    where forms.workspace_id = $workspace_id and forms.id = $form_id and forms.deleted_at is null
      for no key update of forms`,
);

export const countWebhooks = statement(
  'webhooks.count_webhooks',
  { workspace_id: uuid, form_id: uuid },
  { count: bigint },
  `select count(*) as count from webhooks where workspace_id = $workspace_id and form_id = $form_id`,
);

export const insertWebhook = statement(
  'webhooks.insert_webhook',
  {
    workspace_id: uuid,
    id: uuid,
    form_id: uuid,
    url: text,
    events: kinds,
    secret: nullable(bytes),
    created_at: timestamp,
  },
  {},
  `insert into webhooks (workspace_id, id, form_id, url, events, secret, created_at, updated_at)
   values ($workspace_id, $id, $form_id, $url, $events, $secret, $created_at, $created_at)`,
);

/** Newest first. */
export const selectWebhooks = statement(
  'webhooks.select_webhooks',
  { workspace_id: uuid, form_id: uuid },
  { id: uuid, url: text, events: kinds, active: boolean, has_secret: boolean, created_at: timestamp },
  `select id, url, events, active, secret is not null as has_secret, created_at
     from webhooks
    where workspace_id = $workspace_id and form_id = $form_id
    order by id desc`,
);

/** A webhook of a form that is still there, kept from changing, and the plan that it is under. */
export const lockWebhook = statement(
  'webhooks.lock_webhook',
  { workspace_id: uuid, id: uuid },
  { form_id: uuid, plan: word<Plan>() },
  `select webhooks.form_id, workspaces.plan
     from webhooks
     join forms on forms.workspace_id = webhooks.workspace_id and forms.id = webhooks.form_id
     join workspaces on workspaces.id = webhooks.workspace_id
    where webhooks.workspace_id = $workspace_id and webhooks.id = $id and forms.deleted_at is null
      for no key update of webhooks`,
);

/** What is null stays as it is; the secret, which may become null, says so itself. */
export const updateWebhook = statement(
  'webhooks.update_webhook',
  {
    workspace_id: uuid,
    id: uuid,
    url: nullable(text),
    events: nullable(kinds),
    active: nullable(boolean),
    changes_secret: boolean,
    secret: nullable(bytes),
    now: timestamp,
  },
  {},
  `update webhooks
      set url = coalesce($url, url), events = coalesce($events, events), active = coalesce($active, active),
          secret = case when $changes_secret then $secret else secret end, updated_at = $now
    where workspace_id = $workspace_id and id = $id`,
);

/** With its deliveries; the jobs of those find nothing to send. */
export const deleteWebhookRow = statement(
  'webhooks.delete_webhook_row',
  { workspace_id: uuid, id: uuid },
  { id: uuid },
  `delete from webhooks where workspace_id = $workspace_id and id = $id returning id`,
);

// Events --------------------------------------------------------------------------------------------------

/**
 * The webhooks that may hear of a form's events. They are held until the end of the transaction, so that none is
 * deleted between this and the insert of its deliveries.
 */
export const selectListeners = statement(
  'webhooks.select_listeners',
  { workspace_id: uuid, form_id: uuid },
  { id: uuid, events: kinds },
  `select id, events
     from webhooks
    where workspace_id = $workspace_id and form_id = $form_id and active
      for key share`,
);

/**
 * Events with their deliveries and the jobs that send them, in one round trip. The arrays of each group belong
 * together; a delivery names its event by `event_ids`' value.
 */
export const insertEvents = statement(
  'webhooks.insert_events',
  {
    workspace_id: uuid,
    form_id: uuid,
    event_ids: uuids,
    submission_ids: uuids,
    kinds,
    occurred_ats: timestamps,
    /** JSON texts. */
    snapshots: texts,
    delivery_ids: uuids,
    delivery_events: uuids,
    delivery_kinds: kinds,
    webhook_ids: uuids,
    lanes: texts,
    trigger: word<Trigger>(),
  },
  {},
  `with event as (
     insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot)
     select $workspace_id, id, $form_id, submission_id, kind, occurred_at, snapshot::json
       from unnest($event_ids, $submission_ids, $kinds, $occurred_ats, $snapshots)
         as event (id, submission_id, kind, occurred_at, snapshot)
   ),
   made as (
     select * from unnest($delivery_ids, $delivery_events, $delivery_kinds, $webhook_ids, $lanes)
       as made (id, event_id, kind, webhook_id, lane)
   ),
   delivery as (
     insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, is_test, next_attempt_at,
                             created_at)
     select $workspace_id, id, $form_id, webhook_id, event_id, kind, 'Retrying', $trigger = 'test', now(), now()
       from made
   ),
   job as (
     select $workspace_id as workspace_id, id, '${deliverJob}' as kind, lane,
            jsonb_build_object('trigger', $trigger) as payload, 0::double precision as delay
       from made
   )
   ${insertJobs('job')}`,
);

// Deliveries ----------------------------------------------------------------------------------------------

export const deliveryColumns = {
  status: word<DeliveryStatus>(),
  attempts: integer,
  url: text,
  secret: nullable(bytes),
  active: boolean,
  kind: word<EventKind>(),
  occurred_at: timestamp,
  snapshot: json<Snapshot>(),
} as const;

/** All that a request is made of. */
export const findDelivery = statement(
  'webhooks.find_delivery',
  { workspace_id: uuid, id: uuid },
  deliveryColumns,
  `select deliveries.status, deliveries.attempts, webhooks.url, webhooks.secret, webhooks.active,
          events.kind, events.occurred_at, events.snapshot
     from deliveries
     join webhooks on webhooks.workspace_id = deliveries.workspace_id and webhooks.id = deliveries.webhook_id
     join events on events.workspace_id = deliveries.workspace_id and events.id = deliveries.event_id
    where deliveries.workspace_id = $workspace_id and deliveries.id = $id`,
);

/**
 * The outcome of a request: the delivery's new state, and a line of its history. Nothing when the delivery is gone,
 * because its webhook was deleted meanwhile. `delay` is in seconds, null when there is no next attempt.
 */
export const recordAttempt = statement(
  'webhooks.record_attempt',
  {
    workspace_id: uuid,
    delivery_id: uuid,
    status: word<DeliveryStatus>(),
    delay: nullable(double),
    trigger: word<Trigger>(),
    /** Where it went and with which headers; null when nothing was sent. */
    url: nullable(text),
    request_headers: nullable(json<Readonly<Record<string, string>>>()),
    started_at: timestamp,
    response_status: nullable(integer),
    response_ms: integer,
    response_body: nullable(text),
    reason: nullable(text),
  },
  {},
  `with delivery as (
     update deliveries
        set status = $status, attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => $delay),
            response_status = $response_status, response_ms = $response_ms
      where workspace_id = $workspace_id and id = $delivery_id
     returning attempts
   )
   insert into attempts (workspace_id, delivery_id, attempt, trigger, url, request_headers, started_at,
                         response_status, response_ms, response_body, reason)
   select $workspace_id, $delivery_id, attempts, $trigger, $url, $request_headers, $started_at,
          $response_status, $response_ms, $response_body, $reason
     from delivery`,
);

/** Newest first. */
export const selectDeliveries = statement(
  'webhooks.select_deliveries',
  { workspace_id: uuid, webhook_id: uuid, limit: integer, offset: bigint },
  {
    id: uuid,
    event: word<EventKind>(),
    status: word<DeliveryStatus>(),
    created_at: timestamp,
    attempts: integer,
    response_status: nullable(integer),
    response_ms: nullable(integer),
    next_attempt_at: nullable(timestamp),
  },
  `select id, kind as event, status, created_at, attempts, response_status, response_ms, next_attempt_at
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id
    order by id desc
    limit $limit offset $offset`,
);

/** Makes a failed delivery wait for a request now; of two who ask at once, one gets the row. */
export const markForRetry = statement(
  'webhooks.mark_for_retry',
  { workspace_id: uuid, id: uuid },
  { webhook_id: uuid },
  `update deliveries
      set status = 'Retrying', next_attempt_at = now()
    where workspace_id = $workspace_id and id = $id and status = 'Failed'
   returning webhook_id`,
);

export const findDeliveryStatus = statement(
  'webhooks.find_delivery_status',
  { workspace_id: uuid, id: uuid },
  { status: word<DeliveryStatus>() },
  `select status from deliveries where workspace_id = $workspace_id and id = $id`,
);
