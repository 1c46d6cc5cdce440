import { type Column, columns, double, json, nullable, statement, timestamp, word } from '#kit/statement.ts';
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
  'workspace_id form_id',
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
  'workspace_id form_id id? since:uuid',
  [
    'id form_id url active has_secret:boolean previous_secret_until:timestamp? header_names',
    'pauses_on_failure failing_since:timestamp? paused_at:timestamp? created_at updated_at',
    'last_at:timestamp? success failed retrying',
    {
      events: kinds,
      filter: nullable(json<Condition>()),
      paused_by: nullable(word<PausedBy>()),
      last_status: nullable(word<DeliveryStatus>()),
    },
  ],
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
  'workspace_id id',
  ['form_id url', { events: kinds }],
  `select w.form_id, w.url, w.events from webhooks w
     join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id and f.deleted_at is null
    where w.workspace_id = $workspace_id and w.id = $id`,
);

/** The last completed submissions of a form, newest first, with what a webhook tells of them. */
export const selectLatestSubmissions = statement(
  'webhooks.select_latest_submissions',
  'workspace_id form_id limit',
  [
    'id completed_at? form_name',
    {
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      fields: json<Record<string, FieldDescription>>(),
    },
  ],
  `select s.id, s.completed_at, s.answers, s.reference, v.fields, v.name as form_name
     from submissions s
     join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
    where s.workspace_id = $workspace_id and s.form_id = $form_id and s.status = 'completed' and s.trashed_at is null
    order by s.id desc
    limit $limit`,
);

const filters = columns('workspace_id webhook_id from:timestamp? to:timestamp?', {
  status: nullable(word<DeliveryStatus>()),
  event: nullable(word<EventKind>()),
});

const isWanted = `d.workspace_id = $workspace_id and d.webhook_id = $webhook_id
      and ($status is null or d.status = $status) and ($event is null or d.kind = $event)
      and ($from is null or d.created_at >= $from) and ($to is null or d.created_at < $to)`;

export const lineColumns = columns(
  'id is_test:boolean submission_id created_at attempts:integer response_status:integer?',
  'response_ms:integer? reason? next_attempt_at:timestamp?',
  { event: word<EventKind>(), status: word<DeliveryStatus>() },
);

const line = `d.id, d.kind as event, d.status, d.is_test, e.submission_id, d.created_at, d.attempts, d.response_status,
          d.response_ms, a.reason, d.next_attempt_at`;

const lineSource = `deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     left join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id and a.attempt = d.attempts`;

/** A page of a webhook's delivery log, newest first. */
export const selectDeliveryLines = statement(
  'webhooks.select_delivery_lines',
  ['below_id limit offset', filters],
  lineColumns,
  `select ${line} from ${lineSource} where ${isWanted} and d.id < $below_id
   order by d.id desc limit $limit offset $offset`,
);

export const countDeliveryLines = statement(
  'webhooks.count_delivery_lines',
  filters,
  'count',
  `select count(*) as count from deliveries d where ${isWanted}`,
);

/** One delivery with what its body is made of. */
export const findDeliveryLine = statement(
  'webhooks.find_delivery_line',
  'workspace_id id',
  ['webhook_id occurred_at snapshot', lineColumns],
  `select ${line}, d.webhook_id, e.occurred_at, e.snapshot::text as snapshot from ${lineSource}
    where d.workspace_id = $workspace_id and d.id = $id`,
);

/** Oldest first. */
export const selectAttempts = statement(
  'webhooks.select_attempts',
  'workspace_id delivery_id',
  [
    'attempt:integer started_at:timestamp url? response_status:integer? response_ms:integer',
    'body_sha256:text? body_bytes:integer? response_body:text? reason?',
    {
      trigger: word<Trigger>(),
      request_headers: nullable(json<Record<string, string>>()),
      dns_ms: nullable(real),
      connect_ms: nullable(real),
      tls_ms: nullable(real),
      first_byte_ms: nullable(real),
      response_headers: nullable(json<Record<string, string>>()),
    },
  ],
  `select attempt, trigger, started_at, url, request_headers, response_status, response_ms, dns_ms, connect_ms, tls_ms,
          first_byte_ms, encode(body_sha256, 'hex') as body_sha256, body_bytes, response_headers, response_body, reason
     from attempts where workspace_id = $workspace_id and delivery_id = $delivery_id order by attempt`,
);

/** A webhook's deliveries whose id is at least `since`, tests left out: by time and status, with their latency. */
export const selectDeliveryHealth = statement(
  'webhooks.select_delivery_health',
  [
    'workspace_id webhook_id since:uuid',
    {
      /** The width of a bar, in seconds. */
      bar: double,
      /** Where the first bar begins. */
      origin: timestamp,
    },
  ],
  'at success failed retrying',
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
  'workspace_id webhook_id since:uuid',
  'p50:integer? p95:integer?',
  `select percentile_disc(0.5) within group (order by response_ms) as p50,
          percentile_disc(0.95) within group (order by response_ms) as p95
     from deliveries
    where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
      and response_status is not null`,
);

/** Makes a failed delivery that is no test wait for a request now; of two who ask at once, one gets the row. */
export const markForRetry = statement(
  'webhooks.mark_for_retry',
  'workspace_id id',
  'webhook_id',
  `update deliveries
      set status = 'Retrying', next_attempt_at = now()
    where workspace_id = $workspace_id and id = $id and status = 'Failed' and not is_test
   returning webhook_id`,
);

export const findDeliveryStatus = statement(
  'webhooks.find_delivery_status',
  'workspace_id id',
  ['is_test:boolean', { status: word<DeliveryStatus>() }],
  `select status, is_test from deliveries where workspace_id = $workspace_id and id = $id`,
);
