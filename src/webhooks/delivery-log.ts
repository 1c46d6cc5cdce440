import { createHash } from 'node:crypto';
import type { Condition } from '#ast/basics/condition.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { leastIdAt, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import type { RequestScope } from '#kit/operation.ts';
import { finishPage, mostPerPage, type PageRequest, upperIdBound } from '#kit/pagination.ts';
import {
  columns,
  double,
  json,
  nullable,
  type Queryable,
  requireRow,
  type StatementColumn,
  statement,
  textEnum,
  timestamp,
  uuids,
} from '#kit/statement.ts';
import type { LinkTarget } from '#kit/vault.ts';
import { type Plan, plans, requireFormAccess } from '#workspaces/authenticate.ts';
import type { Trigger } from './delivery-job.ts';
import type { EventKind } from './event.ts';
import { findFormOfEvent, formatBody, type WebhookFormat } from './format-body.ts';
import { eventKindsColumn, hasLiveFormSql, type pausers } from './record-event.ts';
import type { DeliveryStatus } from './retry-delivery.ts';
import type { DeliveryDetail, DeliveryList, Webhook, WebhookHealth } from './shapes.ts';
import { signHidden } from './signature.ts';
import { templateColumn } from './template.ts';

const real: StatementColumn<number> = { pg: 'real' };

const filters = columns('workspace_id webhook_id from:timestamp? to:timestamp?', {
  status: nullable(textEnum<DeliveryStatus>()),
  event: nullable(textEnum<EventKind>()),
});

const isMatchingSql = `d.workspace_id = $workspace_id and d.webhook_id = $webhook_id
      and ($status is null or d.status = $status) and ($event is null or d.kind = $event)
      and ($from is null or d.created_at >= $from) and ($to is null or d.created_at < $to)`;

const lineColumns = columns(
  'id is_test:boolean form_id submission_id created_at attempts:integer response_status:integer?',
  'response_ms:integer? reason? next_attempt_at:timestamp?',
  { event: textEnum<EventKind>(), status: textEnum<DeliveryStatus>() },
);

const line = `d.id, d.kind as event, d.status, d.is_test, d.form_id, e.submission_id, d.created_at, d.attempts, d.response_status,
          d.response_ms, a.reason, d.next_attempt_at`;

const lineSource = `deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     left join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id and a.attempt = d.attempts`;

/** Lists a page of a webhook's delivery log, newest first. */
const selectDeliveryLines = statement(
  'webhooks.select_delivery_lines',
  ['below_id limit offset', filters],
  lineColumns,
)`
  select ${line} from ${lineSource} where ${isMatchingSql} and d.id < $below_id
  order by d.id desc limit $limit offset $offset`;

const countDeliveryLines = statement('webhooks.count_delivery_lines', filters, 'count')`
  select count(*) as count from deliveries d where ${isMatchingSql}`;

/** Finds a delivery with the data needed for its body. */
const findDeliveryLine = statement('webhooks.find_delivery_line', 'workspace_id id', [
  'webhook_id url occurred_at snapshot',
  lineColumns,
  { format: textEnum<WebhookFormat>(), template: nullable(templateColumn) },
])`
  select ${line}, d.webhook_id, e.occurred_at, e.snapshot::text as snapshot, coalesce(d.test_url, w.url) as url,
         w.format, w.template
    from ${lineSource}
    join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
   where d.workspace_id = $workspace_id and d.id = $id`;

/** Lists the attempts of a delivery, oldest first. */
const selectAttempts = statement('webhooks.select_attempts', 'workspace_id delivery_id', [
  'attempt:integer started_at:timestamp url? response_status:integer? response_ms:integer',
  'body_sha256:text? body_bytes:integer? response_body:text? reason?',
  {
    trigger: textEnum<Trigger>(),
    request_headers: nullable(json<Record<string, string>>()),
    dns_ms: nullable(real),
    connect_ms: nullable(real),
    tls_ms: nullable(real),
    first_byte_ms: nullable(real),
    response_headers: nullable(json<Record<string, string>>()),
  },
])`
  select attempt, trigger, started_at, url, request_headers, response_status, response_ms, dns_ms, connect_ms, tls_ms,
         first_byte_ms, encode(body_sha256, 'hex') as body_sha256, body_bytes, response_headers, response_body, reason
    from attempts where workspace_id = $workspace_id and delivery_id = $delivery_id order by attempt`;

type DeliveryFilter = {
  status?: DeliveryStatus | undefined;
  event?: EventKind | undefined;
  /** The start of the range, inclusive. */
  from?: string | undefined;
  /** The end of the range, exclusive. */
  to?: string | undefined;
};

/** Returns a page of a webhook's delivery log, newest first. Specification, "Delivery and retry rules". */
export async function listDeliveries(
  db: Queryable,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  { status, event, from, to }: DeliveryFilter,
  cut: PageRequest,
): Promise<DeliveryList> {
  const filter = {
    workspace_id: workspaceId,
    webhook_id: webhookId,
    status: status ?? null,
    event: event ?? null,
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
  };
  const [lines, total] = await Promise.all([
    selectDeliveryLines(db, { ...filter, below_id: upperIdBound(cut), limit: cut.limit, offset: cut.offset }),
    cut.total ?? countDeliveryLines(db, filter).then(([found]) => found!.count),
  ]);
  const { rows, ends } = finishPage(cut, lines, total);
  return { data: asWireValue(rows), ...ends };
}

/**
 * Returns a delivery with every attempt. The body is built again from the event, which never changes, in the
 * current format of the webhook, by the same function that built the sent body. Its SHA-256 is compared with that of the sent bytes. Signatures in
 * file links are hidden, so that the log gives no access to files.
 * @throws ApiError not_found.
 */
export async function readDelivery(
  {
    database,
    links,
    config,
  }: { database: Queryable; links: Pick<FileLinks, 'sign'>; config: Pick<Config, 'publicUrl'> },
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
): Promise<DeliveryDetail> {
  const { occurred_at, snapshot, url, format, template, ...found } = requireRow(
    await findDeliveryLine(database, { workspace_id: workspaceId, id: deliveryId }),
  );
  const { form_id, submission_id, is_test: isTest } = found;
  const form = await findFormOfEvent(database, { format, workspace_id: workspaceId, form_id, submission_id });
  const how = { format, template, url, isTest, form, publicUrl: config.publicUrl };
  const attempts = await selectAttempts(database, { workspace_id: workspaceId, delivery_id: deliveryId });
  const bodyWith = (signLink: (file: LinkTarget) => string): string =>
    formatBody({ kind: found.event, occurredAt: occurred_at, deliveryId, snapshot, signLink }, how);
  const hashAt = (at: Date): string =>
    createHash('sha256')
      .update(bodyWith((file) => links.sign(file, at)))
      .digest('hex');
  return asWireValue({
    ...found,
    request_body: bodyWith(signHidden(links)),
    history: attempts.map((attempt) => ({
      ...attempt,
      is_body_exact: attempt.body_sha256 === null ? null : hashAt(attempt.started_at) === attempt.body_sha256,
    })),
  });
}

/** Counts a webhook's deliveries whose id is at least `since`, by time and status. Tests are not counted. */
const selectDeliveryHealth = statement(
  'webhooks.select_delivery_health',
  [
    'workspace_id webhook_id since:uuid',
    {
      /** The width of a bar, in seconds. */
      bar: double,
      /** The start of the first bar. */
      origin: timestamp,
    },
  ],
  'at success failed retrying',
)`
  select date_bin(make_interval(secs => $bar), created_at, $origin) as at,
         count(*) filter (where status = 'Success') as success,
         count(*) filter (where status = 'Failed') as failed,
         count(*) filter (where status = 'Retrying') as retrying
    from deliveries
   where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
   group by 1`;

const findDeliveryLatency = statement(
  'webhooks.find_delivery_latency',
  'workspace_id webhook_id since:uuid',
  'p50:integer? p95:integer?',
)`
  select percentile_disc(0.5) within group (order by response_ms) as p50,
         percentile_disc(0.95) within group (order by response_ms) as p95
    from deliveries
   where workspace_id = $workspace_id and webhook_id = $webhook_id and id >= $since and not is_test
     and response_status is not null`;

type Counts = { success: number; failed: number; retrying: number };
type Bar = Counts & { at: string };

const hourMs = 60 * 60 * 1_000;
/** Bars end with the current hour or day in UTC, so that they do not shift during it. */
const spans = { day: { bars: 24, barMs: hourMs }, week: { bars: 7, barMs: 24 * hourMs } } as const;

/** Returns the health of a webhook in the last 24 hours and the last 7 days. */
export async function readHealth(
  db: Queryable,
  webhook: { workspaceId: string; webhookId: string },
): Promise<WebhookHealth> {
  const [day, week] = await Promise.all([readSpan(db, webhook, 'day'), readSpan(db, webhook, 'week')]);
  return { day: day.window, week: week.window, hours: day.bars, days: week.bars };
}

async function readSpan(
  db: Queryable,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  span: keyof typeof spans,
): Promise<{ window: WebhookHealth['day']; bars: Bar[] }> {
  const { bars: count, barMs } = spans[span];
  const last = Math.floor(now().getTime() / barMs) * barMs;
  const times = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * barMs);
  const origin = new Date(times[0]!);
  const place = { workspace_id: workspaceId, webhook_id: webhookId, since: leastIdAt(origin) };
  const [rows, [latency]] = await Promise.all([
    selectDeliveryHealth(db, { ...place, bar: barMs / 1_000, origin }),
    findDeliveryLatency(db, place),
  ]);
  const byTime = new Map(rows.map(({ at, ...counts }) => [at.getTime(), counts]));
  const none: Counts = { success: 0, failed: 0, retrying: 0 };
  const bars = times.map((at) => ({ at: new Date(at).toISOString(), ...(byTime.get(at) ?? none) }));
  const sum = (name: keyof Counts): number => bars.reduce((total, bar) => total + bar[name], 0);
  return {
    bars,
    window: {
      success: sum('success'),
      failed: sum('failed'),
      retrying: sum('retrying'),
      p50_ms: latency!.p50,
      p95_ms: latency!.p95,
    },
  };
}

/** Finds the form, URL and events of a webhook whose form is not deleted. */
const findWebhookForm = statement('webhooks.find_webhook_place', 'workspace_id id', [
  'form_id? url',
  { events: eventKindsColumn },
])`
  select form_id, url, events from webhooks
   where workspace_id = $workspace_id and id = $id and ${hasLiveFormSql}`;

/** A webhook that a request names, with its form, URL and events. */
type WebhookLocation = {
  workspaceId: string;
  /** Null for a webhook of the workspace. */
  formId: string | null;
  webhookId: string;
  url: string;
  events: readonly EventKind[];
};

/**
 * Finds the webhook that a request names, if its form exists and the caller can use it.
 * @throws ApiError not_found, also for a webhook of the workspace if the key is limited to certain forms.
 */
export async function requireWebhook(
  db: Queryable,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  webhookId: string,
): Promise<WebhookLocation> {
  const { form_id, ...found } = requireRow(
    await findWebhookForm(db, { workspace_id: workspaceId, id: webhookId }),
  );
  if (form_id !== null) requireFormAccess(formIds, form_id);
  else if (formIds !== null) throw new ApiError('not_found');
  return { workspaceId, formId: form_id, webhookId, ...found };
}

type PausedBy = (typeof pausers)[number];

/** Finds the plan of a workspace. Returns no row if the form is given and does not exist. */
const findPlan = statement('webhooks.find_plan', 'workspace_id form_id?', { plan: textEnum<Plan>() })`
  select plan from workspaces
   where id = $workspace_id
     and ($form_id is null or exists (
       select from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null))`;

const webhookFilter = columns('workspace_id id?', {
  /** The forms that the caller can access; null for all, with the webhooks of the workspace. */
  form_ids: nullable(uuids),
});

const isListedSql = `webhooks.workspace_id = $workspace_id and ($id is null or webhooks.id = $id)
     and ($form_ids is null or webhooks.form_id = any($form_ids)) and ${hasLiveFormSql}`;

const countListed = statement('webhooks.count_listed', webhookFilter, 'count')`
  select count(*) as count from webhooks where ${isListedSql}`;

/**
 * Lists webhooks with their health, newest first. `since` is the smallest id of the deliveries to count: ids
 * begin with their time, so the index of the log finds the last day.
 */
const selectWebhookHealth = statement(
  'webhooks.select_webhook_health',
  ['below_id limit offset since:uuid', webhookFilter],
  [
    'id form_id? form_name? url active has_secret:boolean previous_secret_until:timestamp? header_names',
    'pauses_on_failure failing_since:timestamp? paused_at:timestamp? created_at updated_at',
    'last_at:timestamp? success failed retrying',
    {
      events: eventKindsColumn,
      filter: nullable(json<Condition>()),
      format: textEnum<WebhookFormat>(),
      template: nullable(templateColumn),
      paused_by: nullable(textEnum<PausedBy>()),
      last_status: nullable(textEnum<DeliveryStatus>()),
    },
  ],
)`
  select w.id, w.form_id, f.name as form_name, w.url, w.events, w.active, w.secret is not null as has_secret,
         case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
         w.header_names, w.filter, w.format, w.template, w.pauses_on_failure, w.failing_since, w.paused_at, w.paused_by,
         w.created_at, w.updated_at,
         last.status as last_status, last.created_at as last_at, day.success, day.failed, day.retrying
    from (select * from webhooks where ${isListedSql} and webhooks.id < $below_id
           order by webhooks.id desc limit $limit offset $offset) w
    left join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id
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
   order by w.id desc`;

const dayMs = 24 * 60 * 60 * 1_000;

type WebhooksToRead = {
  workspaceId: string;
  /** Only webhooks of this form. */
  formId?: string | null;
  /** Only webhooks of these forms; null for all webhooks. */
  formIds?: readonly string[] | null;
  webhookId?: string;
};

const wholeList = { limit: mostPerPage, offset: 0, after: null };

/**
 * Returns webhooks with their health, newest first, and whether the plan allows secrets.
 * @throws ApiError not_found if the form does not exist.
 */
export async function readWebhooks(
  db: Queryable,
  { workspaceId, formId = null, formIds = null, webhookId }: WebhooksToRead,
  page: Pick<PageRequest, 'limit' | 'offset' | 'after'> = wholeList,
): Promise<{ webhooks: Webhook[]; secretsAllowed: boolean }> {
  const found = requireRow(await findPlan(db, { workspace_id: workspaceId, form_id: formId }));
  const rows = await selectWebhookHealth(db, {
    workspace_id: workspaceId,
    id: webhookId ?? null,
    form_ids: formId === null ? formIds && [...formIds] : [formId],
    below_id: upperIdBound(page),
    limit: page.limit,
    offset: page.offset,
    since: leastIdAt(new Date(now().getTime() - dayMs)),
  });
  const webhooks = rows.map(
    ({ last_status, last_at, success, failed, retrying, filter, template, ...webhook }): Webhook => ({
      ...asWireValue(webhook),
      filter,
      template,
      last_delivery: asWireValue(last_status && last_at && { status: last_status, created_at: last_at }),
      day: { success, failed, retrying },
    }),
  );
  return { webhooks, secretsAllowed: plans[found.plan].signedWebhooks };
}

/** Returns a page of all webhooks that the caller can access, of forms and of the workspace. */
export async function listWorkspaceWebhooks(
  db: Queryable,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  page: PageRequest,
) {
  const filter = { workspace_id: workspaceId, id: null, form_ids: formIds && [...formIds] };
  const [{ webhooks, secretsAllowed }, total] = await Promise.all([
    readWebhooks(db, { workspaceId, formIds }, page),
    page.total ?? countListed(db, filter).then(([found]) => found!.count),
  ]);
  const { rows, ends } = finishPage(page, webhooks, total);
  return { data: [...rows], secretsAllowed, ends };
}
