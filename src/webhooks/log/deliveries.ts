import { createHash } from 'node:crypto';
import type { FileLinks } from '#files/link.ts';
import { belowId, type Cut, endCut } from '#kit/cursor.ts';
import type { LinkTarget } from '#kit/personal-link.ts';
import {
  type Column,
  columns,
  json,
  nullable,
  type Queryable,
  requireRow,
  type RowOf,
  statement,
  word,
} from '#kit/statement.ts';
import { deliveryBody } from '../body.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryDetail, DeliveryLine, DeliveryList } from '../shapes.ts';
import type { Trigger } from '../delivery-job.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

const real: Column<number> = { pg: 'real' };

const filters = columns('workspace_id webhook_id from:timestamp? to:timestamp?', {
  status: nullable(word<DeliveryStatus>()),
  event: nullable(word<EventKind>()),
});

const isWanted = `d.workspace_id = $workspace_id and d.webhook_id = $webhook_id
      and ($status is null or d.status = $status) and ($event is null or d.kind = $event)
      and ($from is null or d.created_at >= $from) and ($to is null or d.created_at < $to)`;

const lineColumns = columns(
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
const selectDeliveryLines = statement(
  'webhooks.select_delivery_lines',
  ['below_id limit offset', filters],
  lineColumns,
  `select ${line} from ${lineSource} where ${isWanted} and d.id < $below_id
   order by d.id desc limit $limit offset $offset`,
);

const countDeliveryLines = statement(
  'webhooks.count_delivery_lines',
  filters,
  'count',
  `select count(*) as count from deliveries d where ${isWanted}`,
);

/** One delivery with what its body is made of. */
const findDeliveryLine = statement(
  'webhooks.find_delivery_line',
  'workspace_id id',
  ['webhook_id occurred_at snapshot', lineColumns],
  `select ${line}, d.webhook_id, e.occurred_at, e.snapshot::text as snapshot from ${lineSource}
    where d.workspace_id = $workspace_id and d.id = $id`,
);

/** Oldest first. */
const selectAttempts = statement(
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

type DeliveryFilter = {
  status?: DeliveryStatus | undefined;
  event?: EventKind | undefined;
  /** Inclusive. */
  from?: string | undefined;
  /** Exclusive. */
  to?: string | undefined;
};

/** A page of a webhook's delivery log, newest first. Specification, "Delivery and retry rules". */
export async function listDeliveries(
  db: Queryable,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  { status, event, from, to }: DeliveryFilter,
  cut: Cut,
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
    selectDeliveryLines(db, { ...filter, below_id: belowId(cut), limit: cut.limit, offset: cut.offset }),
    cut.total ?? countDeliveryLines(db, filter).then(([found]) => found!.count),
  ]);
  const { rows, ends } = endCut(cut, lines, total);
  return { data: rows.map(presentLine), ...ends };
}

/**
 * One delivery with every attempt. The body is made again, by the function that made what was sent, from the event,
 * which never changes, and its SHA-256 is compared with that of the bytes that left. What is shown leaves out the
 * signatures of the links of files, so that the log hands out no files.
 * @throws ApiError not_found.
 */
export async function readDelivery(
  { database, links }: { database: Queryable; links: Pick<FileLinks, 'sign'> },
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
): Promise<DeliveryDetail> {
  const found = requireRow(await findDeliveryLine(database, { workspace_id: workspaceId, id: deliveryId }));
  const attempts = await selectAttempts(database, { workspace_id: workspaceId, delivery_id: deliveryId });
  const bodyWith = (signLink: (file: LinkTarget) => string): string =>
    deliveryBody({
      kind: found.event,
      occurredAt: found.occurred_at,
      deliveryId,
      snapshot: found.snapshot,
      signLink,
    });
  const hashAt = (at: Date): string =>
    createHash('sha256')
      .update(bodyWith((file) => links.sign(file, at)))
      .digest('hex');
  return {
    ...presentLine(found),
    webhook_id: found.webhook_id,
    request_body: bodyWith((file) =>
      links.sign(file).replace(/\?.*$/, '?expires=(hidden)&signature=(hidden)'),
    ),
    history: attempts.map((attempt) => ({
      ...attempt,
      started_at: attempt.started_at.toISOString(),
      is_body_exact: attempt.body_sha256 === null ? null : hashAt(attempt.started_at) === attempt.body_sha256,
    })),
  };
}

function presentLine(row: RowOf<typeof lineColumns>): DeliveryLine {
  return {
    id: row.id,
    event: row.event,
    status: row.status,
    is_test: row.is_test,
    submission_id: row.submission_id,
    created_at: row.created_at.toISOString(),
    attempts: row.attempts,
    response_status: row.response_status,
    response_ms: row.response_ms,
    reason: row.reason,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  };
}
