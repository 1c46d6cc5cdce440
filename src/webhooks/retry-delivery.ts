import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { announceJobs, enqueueJob } from '#kit/queue.ts';
import { only, requireRow, statement, word } from '#kit/statement.ts';
import { type DeliverJobPayload, deliverJob, laneOf } from './delivery-job.ts';

/** Specification, "Webhook delivery status". */
export const deliveryStatuses = ['Success', 'Retrying', 'Failed'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Makes a failed delivery that is no test wait for a request now; of two who ask at once, one gets the row. */
const markForRetry = statement(
  'webhooks.mark_for_retry',
  'workspace_id id',
  'webhook_id',
  `update deliveries
      set status = 'Retrying', next_attempt_at = now()
    where workspace_id = $workspace_id and id = $id and status = 'Failed' and not is_test
   returning webhook_id`,
);

const findDeliveryStatus = statement(
  'webhooks.find_delivery_status',
  'workspace_id id',
  ['is_test:boolean', { status: word<DeliveryStatus>() }],
  `select status, is_test from deliveries where workspace_id = $workspace_id and id = $id`,
);

const conflicts = {
  Success: 'This delivery succeeded; there is nothing to send again.',
  Retrying: 'This delivery is being sent already, or waits for its next attempt.',
  Failed: 'This delivery changed at the same moment. Look again.',
} as const satisfies Record<DeliveryStatus, string>;
/** Sent again, it would be told to the receiver as a submission that somebody made. */
const isTest = 'A test is one request. Send another test instead.';

/**
 * Sends a failed delivery again, at once and once, however many ask for it. Specification, "Webhook delivery
 * status". It does not start the schedule again: when it fails, the delivery is Failed.
 * @throws ApiError not_found; conflict when the delivery is not Failed, or a test.
 */
export async function retryDelivery(
  { database }: { database: Database },
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
): Promise<void> {
  const delivery = { workspace_id: workspaceId, id: deliveryId };
  await transaction(database, async (client) => {
    const marked = only(await markForRetry(client, delivery));
    if (!marked) {
      const found = requireRow(await findDeliveryStatus(client, delivery));
      throw new ApiError('conflict', found.is_test ? isTest : conflicts[found.status]);
    }
    await enqueueJob(client, {
      ...delivery,
      kind: deliverJob,
      lane: laneOf(marked.webhook_id),
      payload: { trigger: 'manual' } satisfies DeliverJobPayload,
      delay: 0,
    });
  });
  // Not through a queue's wake: the command line has no queue, and a running server hears this.
  await announceJobs(database);
}
