import { createHash } from 'node:crypto';
import type { FileLinks } from '#files/link.ts';
import { belowId, type Cut, endCut } from '#kit/cursor.ts';
import type { LinkTarget } from '#kit/personal-link.ts';
import { type Queryable, requireRow, type RowOf } from '#kit/statement.ts';
import { deliveryBody } from '../body.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../queries.ts';
import {
  countDeliveryLines,
  findDeliveryLine,
  type lineColumns,
  selectAttempts,
  selectDeliveryLines,
} from './queries.ts';
import type { DeliveryDetail, DeliveryLine, DeliveryList } from '../shapes.ts';

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
