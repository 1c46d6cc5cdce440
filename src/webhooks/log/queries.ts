import {
  bigint,
  boolean,
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
  word,
} from '#kit/statement.ts';
import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { Condition } from '#ast/logic/condition.ts';
import type { Trigger } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import { type DeliveryStatus, kinds, type PausedBy } from '../queries.ts';
import type { Plan } from '#workspaces/plans.ts';

const real: Column<number> = { pg: 'real' };

/** The plan that a form's webhooks are under; none when there is no such form. */
export const findFormPlan = statement(
  'webhooks.find_form_plan',
  { workspace_id: uuid, form_id: uuid },
  { plan: word<Plan>() },
  `select w.plan from forms f join workspaces w on w.id = f.workspace_id
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`,
);

/**
 * The webhooks of a form (or the one of this id) with their health, newest first. `since` is the least id of a
 * delivery that counts: ids begin with their time, so the log's own index finds the last day.
 */
export const selectWebhookHealth = statement(
  'webhooks.select_webhook_health',
  { workspace_id: uuid, form_id: uuid, id: nullable(uuid), since: uuid },
  {
    id: uuid,
    form_id: uuid,
    url: text,
    events: kinds,
    active: boolean,
    has_secret: boolean,
    previous_secret_until: nullable(timestamp),
    header_names: texts,
    filter: nullable(json<Condition>()),
    pauses_on_failure: boolean,
    failing_since: nullable(timestamp),
    paused_at: nullable(timestamp),
    paused_by: nullable(word<PausedBy>()),
    created_at: timestamp,
    updated_at: timestamp,
    last_status: nullable(word<DeliveryStatus>()),
    last_at: nullable(timestamp),
    success: bigint,
    failed: bigint,
    retrying: bigint,
  },
  `select w.id, w.form_id, w.url, w.events, w.active, w.secret is not null as has_secret,
          case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
          w.header_names, w.filter, w.pauses_on_failure, w.failing_since, w.paused_at, w.paused_by, w.created_at, w.updated_at,
          last.status as last_status, last.created_at as last_at, day.success, day.failed, day.retrying
     from webhooks w
     join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id and f.deleted_at is null
     left join lateral (
       select d.status, d.created_at from deliveries d
        where d.workspace_id = w.workspace_id and d.webhook_id = w.id and not d.is_test
        order by d.id desc limit 1) last on true
    cross join lateral (
       select count(*) filter (where d.status = 'Success') as success,
              count(*) filter (where d.status = 'Failed') as failed,
              count(*) filter (where d.status = 'Retrying') as retrying
         from deliveries d
        where d.workspace_id = w.workspace_id and d.webhook_id = w.id and not d.is_test and d.id >= $since) day
    where w.workspace_id = $workspace_id and w.form_id = $form_id and ($id is null or w.id = $id)
    order by w.id desc`,
);

/** Of which form a webhook is, when that is still there; where it leads, and of what it hears. */
export const findWebhookPlace = statement(
  'webhooks.find_webhook_place',
  { workspace_id: uuid, id: uuid },
  { form_id: uuid, url: text, events: kinds },
  `select w.form_id, w.url, w.events from webhooks w
     join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id and f.deleted_at is null
    where w.workspace_id = $workspace_id and w.id = $id`,
);

/** The last completed submissions of a form, newest first, with what a webhook tells of them. */
export const selectLatestSubmissions = statement(
  'webhooks.select_latest_submissions',
  { workspace_id: uuid, form_id: uuid, limit: integer },
  {
    id: uuid,
    completed_at: nullable(timestamp),
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    fields: json<Record<string, FieldDescription>>(),
    form_name: text,
  },
  `select s.id, s.completed_at, s.answers, s.reference, v.fields, v.name as form_name
     from submissions s
     join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
    where s.workspace_id = $workspace_id and s.form_id = $form_id and s.status = 'completed' and s.trashed_at is null
    order by s.id desc
    limit $limit`,
);

const filters = {
  workspace_id: uuid,
  webhook_id: uuid,
  status: nullable(word<DeliveryStatus>()),
  event: nullable(word<EventKind>()),
  from: nullable(timestamp),
  to: nullable(timestamp),
} as const;

const isWanted = `d.workspace_id = $workspace_id and d.webhook_id = $webhook_id
      and ($status is null or d.status = $status) and ($event is null or d.kind = $event)
      and ($from is null or d.created_at >= $from) and ($to is null or d.created_at < $to)`;

export const lineColumns = {
  id: uuid,
  event: word<EventKind>(),
  status: word<DeliveryStatus>(),
  is_test: boolean,
  submission_id: uuid,
  created_at: timestamp,
  attempts: integer,
  response_status: nullable(integer),
  response_ms: nullable(integer),
  reason: nullable(text),
  next_attempt_at: nullable(timestamp),
} as const;

const line = `d.id, d.kind as event, d.status, d.is_test, e.submission_id, d.created_at, d.attempts, d.response_status,
          d.response_ms, a.reason, d.next_attempt_at`;

const lineSource = `deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     left join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id and a.attempt = d.attempts`;

/** A page of a webhook's delivery log, newest first. */
export const selectDeliveryLines = statement(
  'webhooks.select_delivery_lines',
  { ...filters, below_id: uuid, limit: integer, offset: bigint },
  lineColumns,
  `select ${line} from ${lineSource} where ${isWanted} and d.id < $below_id
   order by d.id desc limit $limit offset $offset`,
);

export const countDeliveryLines = statement(
  'webhooks.count_delivery_lines',
  filters,
  { count: bigint },
  `select count(*) as count from deliveries d where ${isWanted}`,
);

/** One delivery with what its body is made of. */
export const findDeliveryLine = statement(
  'webhooks.find_delivery_line',
  { workspace_id: uuid, id: uuid },
  { ...lineColumns, webhook_id: uuid, occurred_at: timestamp, snapshot: text },
  `select ${line}, d.webhook_id, e.occurred_at, e.snapshot::text as snapshot from ${lineSource}
    where d.workspace_id = $workspace_id and d.id = $id`,
);

/** Oldest first. */
export const selectAttempts = statement(
  'webhooks.select_attempts',
  { workspace_id: uuid, delivery_id: uuid },
  {
    attempt: integer,
    trigger: word<Trigger>(),
    started_at: timestamp,
    url: nullable(text),
    request_headers: nullable(json<Record<string, string>>()),
    response_status: nullable(integer),
    response_ms: integer,
    dns_ms: nullable(real),
    connect_ms: nullable(real),
    tls_ms: nullable(real),
    first_byte_ms: nullable(real),
    body_sha256: nullable(text),
    body_bytes: nullable(integer),
    response_headers: nullable(json<Record<string, string>>()),
    response_body: nullable(text),
    reason: nullable(text),
  },
  `select attempt, trigger, started_at, url, request_headers, response_status, response_ms, dns_ms, connect_ms, tls_ms,
          first_byte_ms, encode(body_sha256, 'hex') as body_sha256, body_bytes, response_headers, response_body, reason
     from attempts where workspace_id = $workspace_id and delivery_id = $delivery_id order by attempt`,
);

/** A webhook's deliveries whose id is at least `since`, tests left out: by time and status, with their latency. */
export const selectDeliveryHealth = statement(
  'webhooks.select_delivery_health',
  {
    workspace_id: uuid,
    webhook_id: uuid,
    since: uuid,
    /** The width of a bar, in seconds. */
    bar: double,
    /** Where the first bar begins. */
    origin: timestamp,
  },
  { at: timestamp, success: bigint, failed: bigint, retrying: bigint },
  `select date_bin(make_interval(secs => $bar), created_at, $origin) as at,
          count(*) filter (where status = 'Success') as success,
          count(*) filter (where status = 'Failed') as failed,
          count(*) filter (where status = 'Retrying') as retrying
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
    group by 1`,
);

export const findDeliveryLatency = statement(
  'webhooks.find_delivery_latency',
  { workspace_id: uuid, webhook_id: uuid, since: uuid },
  { p50: nullable(integer), p95: nullable(integer) },
  `select percentile_disc(0.5) within group (order by response_ms) as p50,
          percentile_disc(0.95) within group (order by response_ms) as p95
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
      and response_status is not null`,
);

/** Makes a failed delivery that is no test wait for a request now; of two who ask at once, one gets the row. */
export const markForRetry = statement(
  'webhooks.mark_for_retry',
  { workspace_id: uuid, id: uuid },
  { webhook_id: uuid },
  `update deliveries
      set status = 'Retrying', next_attempt_at = now()
    where workspace_id = $workspace_id and id = $id and status = 'Failed' and not is_test
   returning webhook_id`,
);

export const findDeliveryStatus = statement(
  'webhooks.find_delivery_status',
  { workspace_id: uuid, id: uuid },
  { status: word<DeliveryStatus>(), is_test: boolean },
  `select status, is_test from deliveries where workspace_id = $workspace_id and id = $id`,
);
