import { createHash } from 'node:crypto';
import type { FileLinks } from '#files/stored-files.ts';
import { leastIdAt, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { asWireValue } from '#kit/http.ts';
import { finishPage, type PageRequest, upperIdBound } from '#kit/pagination.ts';
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
} from '#kit/statement.ts';
import type { LinkTarget } from '#kit/vault.ts';
import type { Trigger } from './delivery-job.ts';
import type { EventKind } from './event.ts';
import { findFormOfEvent, formatBody, type WebhookFormat } from './format-body.ts';
import type { DeliveryStatus } from './retry-delivery.ts';
import type { DeliveryDetail, DeliveryList, WebhookHealth } from './shapes.ts';
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
const selectDeliveryLines = statement(['below_id limit offset', filters], lineColumns)`
  select ${line} from ${lineSource} where ${isMatchingSql} and d.id < $below_id
  order by d.id desc limit $limit offset $offset`;

const countDeliveryLines = statement(filters, 'count')`
  select count(*) as count from deliveries d where ${isMatchingSql}`;

/** Finds a delivery with the data needed for its body. */
const findDeliveryLine = statement('workspace_id id', [
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
const selectAttempts = statement('workspace_id delivery_id', [
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

const findDeliveryLatency = statement('workspace_id webhook_id since:uuid', 'p50:integer? p95:integer?')`
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
