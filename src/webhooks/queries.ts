import type { Condition } from '#ast/logic/condition.ts';
import { isFeedRead } from '#forms/queries.ts';
import { insertJobs } from '#kit/queue.ts';
import { bytes, type Column, json, nullable, statement, text, texts, word } from '#kit/statement.ts';
import type { Plan } from '#workspaces/plans.ts';
import { deliverJob, type Trigger } from './delivery-job.ts';
import type { EventKind } from './event.ts';

/** Specification, "Webhook delivery status". */
export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Why a webhook is not active. */
export const pausers = ['person', 'failure'] as const;
export type PausedBy = (typeof pausers)[number];

export const kinds: Column<EventKind[]> = { pg: texts.pg };
const condition = json<Condition>();
const booleans: Column<boolean[]> = { pg: 'boolean[]' };
const timestamps: Column<Date[]> = { pg: 'timestamp with time zone[]' };

// Webhooks ------------------------------------------------------------------------------------------------

/** The plan that a form's webhooks are under. Locks the form, so that its webhooks are added one by one. */
export const lockFormForWebhook = statement(
  'webhooks.lock_form_for_webhook',
  'workspace_id form_id',
  { plan: word<Plan>() },
  `select workspaces.plan
     from forms
     join workspaces on workspaces.id = forms.workspace_id
    where forms.workspace_id = $workspace_id and forms.id = $form_id and forms.deleted_at is null
      for no key update of forms`,
);

export const countWebhooks = statement(
  'webhooks.count_webhooks',
  'workspace_id form_id',
  'count',
  `select count(*) as count from webhooks where workspace_id = $workspace_id and form_id = $form_id`,
);

export const insertWebhook = statement(
  'webhooks.insert_webhook',
  [
    'workspace_id id form_id url active secret? header_names pauses_on_failure created_at',
    { events: kinds /** Sealed; and their names. */, headers: nullable(bytes), filter: nullable(condition) },
  ],
  '',
  `insert into webhooks (workspace_id, id, form_id, url, events, active, paused_at, paused_by, secret, headers, header_names,
                         filter, pauses_on_failure, created_at, updated_at)
   values ($workspace_id, $id, $form_id, $url, $events, $active, case when not $active then $created_at end,
           case when not $active then 'person' end, $secret, $headers, $header_names,
           $filter, $pauses_on_failure, $created_at, $created_at)`,
);

/** A webhook of a form that is still there, kept from changing, and the plan that it is under. */
export const lockWebhook = statement(
  'webhooks.lock_webhook',
  'workspace_id id',
  ['form_id url headers? header_names updated_at', { plan: word<Plan>() }],
  `select webhooks.form_id, workspaces.plan, webhooks.url, webhooks.headers, webhooks.header_names, webhooks.updated_at
     from webhooks
     join forms on forms.workspace_id = webhooks.workspace_id and forms.id = webhooks.form_id
     join workspaces on workspaces.id = webhooks.workspace_id
    where webhooks.workspace_id = $workspace_id and webhooks.id = $id and forms.deleted_at is null
      for no key update of webhooks`,
);

/**
 * What is null stays as it is; the secret, the headers and the filter, which may become null, say so themselves. A
 * secret that is replaced stays valid for `overlap` seconds; 0: not at all. A webhook that is resumed begins with a clean record.
 */
export const updateWebhook = statement(
  'webhooks.update_webhook',
  [
    'workspace_id id url? active? changes_secret:boolean secret? overlap:double',
    'changes_headers:boolean headers? header_names changes_filter:boolean pauses_on_failure?',
    'now',
    { events: nullable(kinds), filter: nullable(condition) },
  ],
  '',
  `update webhooks
      set url = coalesce($url, url), events = coalesce($events, events), active = coalesce($active, active),
          paused_at = case when $active then null when active and not $active then $now else paused_at end,
          paused_by = case when $active then null when active and not $active then 'person' else paused_by end,
          failing_since = case when $active and not active then null else failing_since end,
          secret = case when $changes_secret then $secret else secret end,
          previous_secret = case when not $changes_secret then previous_secret
                                 when $secret is not null and $overlap > 0 then secret end,
          previous_secret_until = case when not $changes_secret then previous_secret_until
                                       when $secret is not null and $overlap > 0 and secret is not null
                                       then $now + make_interval(secs => $overlap) end,
          headers = case when $changes_headers then $headers else headers end,
          header_names = case when $changes_headers then $header_names else header_names end,
          filter = case when $changes_filter then $filter else filter end,
          pauses_on_failure = coalesce($pauses_on_failure, pauses_on_failure),
          updated_at = greatest($now, updated_at + interval '1 ms')
    where workspace_id = $workspace_id and id = $id`,
);

/** With its deliveries; the jobs of those find nothing to send. */
export const deleteWebhookRow = statement(
  'webhooks.delete_webhook_row',
  'workspace_id id',
  'id',
  `delete from webhooks where workspace_id = $workspace_id and id = $id returning id`,
);

// Events --------------------------------------------------------------------------------------------------

/**
 * The webhooks that may hear of a form's events, the oldest first; for one that was paused because it failed, events
 * are written down for a replay. They are held until the end of the transaction, so that none is deleted between this
 * and the insert of its deliveries. A row without an id is the feed of the workspace, which hears everything. The time
 * zone is looked up for a filter only.
 */
export const selectListeners = statement(
  'webhooks.select_listeners',
  'workspace_id form_id',
  ['id? active time_zone?', { events: kinds, filter: nullable(condition) }],
  `with listener as (
     select id, events, active, filter,
            case when filter is not null then (
              select settings ->> 'time_zone' from forms where workspace_id = $workspace_id and id = $form_id)
            end as time_zone
       from webhooks
      where workspace_id = $workspace_id and form_id = $form_id and (active or paused_by = 'failure')
        for key share
   )
   select id, events, active, filter, time_zone from listener
   union all
   select null, '{}', true, null, null from feeds where feeds.workspace_id = $workspace_id and ${isFeedRead}
    order by id`,
);

/**
 * Events with their deliveries and the jobs that send them, in one round trip. The arrays of each group belong
 * together; a delivery names its event by `event_ids`' value.
 */
export const insertEvents = statement(
  'webhooks.insert_events',
  [
    'workspace_id form_id event_ids:uuids submission_ids delivery_ids:uuids',
    'delivery_events:uuids webhook_ids:uuids lanes',
    {
      kinds,
      occurred_ats: timestamps,
      /** JSON texts. */
      snapshots: texts,
      delivery_kinds: kinds,
      /** Whether it is sent, or only written down as Failed. */
      are_sent: booleans,
      trigger: word<Trigger>(),
      /** What their jobs belong to (kit/trace.ts). */
      traceparent: nullable(text),
      /** Where a test goes instead of to its webhook's address. */
      test_url: nullable(text),
    },
  ],
  '',
  `with event as (
     insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot, is_test)
     select $workspace_id, id, $form_id, submission_id, kind, occurred_at, snapshot::json, $trigger = 'test'
       from unnest($event_ids, $submission_ids, $kinds, $occurred_ats, $snapshots)
         as event (id, submission_id, kind, occurred_at, snapshot)
   ),
   made as materialized (
     select made.*, now() as at from unnest($delivery_ids, $delivery_events, $delivery_kinds, $webhook_ids, $lanes, $are_sent)
       as made (id, event_id, kind, webhook_id, lane, is_sent)
   ),
   delivery as (
     insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, is_test, test_url,
                             next_attempt_at, created_at)
     select $workspace_id, id, $form_id, webhook_id, event_id, kind, case when is_sent then 'Retrying' else 'Failed' end,
            $trigger = 'test', $test_url, case when is_sent then made.at end, made.at
       from made
   ),
   job as materialized (
     select $workspace_id as workspace_id, id, '${deliverJob}' as kind, lane,
            jsonb_strip_nulls(jsonb_build_object('trigger', $trigger, 'traceparent', $traceparent)) as payload,
            made.at as run_at, made.at
       from made
      where is_sent
   ),
   put as (${insertJobs('job')})
   select`,
);
