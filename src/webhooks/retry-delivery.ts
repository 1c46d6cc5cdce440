import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { announceJobs, enqueueJob } from '#kit/queue.ts';
import { onlyRow, requireRow, statement, textEnum } from '#kit/statement.ts';
import { type DeliverJobPayload, deliverJobKind, laneOf } from './delivery-job.ts';

/** The statuses of a delivery (specification, "Webhook delivery status"). */
export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * Marks a failed delivery for an immediate request, unless it is a test. Of two concurrent callers, only one
 * gets the row.
 */
const markForRetry = statement('workspace_id id', 'webhook_id')`
  update deliveries
     set status = 'Retrying', next_attempt_at = now()
   where workspace_id = $workspace_id and id = $id and status = 'Failed' and not is_test
  returning webhook_id`;

const findDeliveryStatus = statement('workspace_id id', [
  'is_test:boolean',
  { status: textEnum<DeliveryStatus>() },
])`
  select status, is_test from deliveries where workspace_id = $workspace_id and id = $id`;

const conflicts = {
  Success: 'This delivery has already succeeded, so there is nothing to send again.',
  Retrying: 'This delivery is already being sent, or is waiting for its next attempt.',
  Failed: 'This delivery has just changed. Reload it.',
} as const satisfies Record<DeliveryStatus, string>;
/** If a test were sent again, the receiver would treat it as a real submission. */
const isTest = 'Tests cannot be retried. Send another test instead.';

/**
 * Sends a failed delivery again, immediately and only once, even if several callers request it.
 * Specification, "Webhook delivery status". The retry schedule does not start again: if the request fails,
 * the delivery is Failed.
 * @throws ApiError not_found; conflict if the delivery is not Failed, or is a test.
 */
export async function retryDelivery(
  { database }: { database: Database },
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
): Promise<void> {
  const delivery = { workspace_id: workspaceId, id: deliveryId };
  await transaction(database, async (client) => {
    const marked = onlyRow(await markForRetry(client, delivery));
    if (!marked) {
      const found = requireRow(await findDeliveryStatus(client, delivery));
      throw new ApiError('conflict', found.is_test ? isTest : conflicts[found.status]);
    }
    await enqueueJob(client, {
      ...delivery,
      kind: deliverJobKind,
      lane: laneOf(marked.webhook_id),
      payload: { trigger: 'manual' } satisfies DeliverJobPayload,
      delay: 0,
    });
  });
  // Not the queue's wake: the command line has no queue. A running server receives this announcement.
  await announceJobs(database);
}
