import { describeFields } from '#ast/describe.ts';
import type { Form } from '#ast/tree.ts';
import { findForm } from '#forms/queries.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { laneOf } from './delivery-job.ts';
import { type EventKind, type Snapshot, snapshotOf } from './event.ts';
import { insertEvents, lockWebhook } from './queries.ts';
import { sampleSubmission } from './sample.ts';

export type SendTestContext = {
  database: Database;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};

/** In one minute and workspace: enough to try things out, too few to look around in a network (reliability T10). */
const testsPerMinute = 30;

/**
 * Sends a sample of the form's live version to a webhook, paused or not, through the way of every delivery: the
 * same queue, guard, signature, request and log. It is one request, never retried, and counts for nothing.
 * @returns the id of the delivery in the log, where its outcome will stand.
 * @throws ApiError not_found; rate_limit_exceeded.
 */
export async function sendTest(
  context: SendTestContext,
  { workspaceId, webhookId, kind }: { workspaceId: string; webhookId: string; kind: EventKind },
): Promise<{ deliveryId: string }> {
  await countTest(context.requestCounter, workspaceId);
  const [eventId, submissionId, deliveryId] = [newId(), newId(), newId()];
  await transaction(context.database, async (client) => {
    const webhook = only(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    const form = webhook && only(await findForm(client, { workspace_id: workspaceId, id: webhook.form_id }));
    if (!webhook || !form) throw new ApiError('not_found');
    const place = { id: form.id, name: form.name, workspaceId };
    // The structure was validated when it became the live version.
    const snapshot = sampleSnapshot(place, form.structure as Form, submissionId);
    await insertEvents(client, {
      workspace_id: workspaceId,
      form_id: form.id,
      event_ids: [eventId],
      submission_ids: [submissionId],
      kinds: [kind],
      occurred_ats: [timeOfId(eventId)],
      snapshots: [JSON.stringify(snapshot)],
      delivery_ids: [deliveryId],
      delivery_events: [eventId],
      delivery_kinds: [kind],
      webhook_ids: [webhookId],
      lanes: [laneOf(webhookId)],
      are_sent: [true],
      trigger: 'test',
    });
  });
  context.wakeQueue();
  return { deliveryId };
}

function sampleSnapshot(
  place: { id: string; name: string; workspaceId: string },
  form: Form,
  submissionId: string,
): Snapshot {
  const submission = {
    id: submissionId,
    submittedAt: timeOfId(submissionId),
    status: 'completed',
    ...sampleSubmission(form),
  };
  return snapshotOf({ form: place, submission, fields: describeFields(form) });
}

async function countTest(counter: RequestCounter, workspaceId: string): Promise<void> {
  const { requests, msLeft } = await counter.count(`webhook tests of ${workspaceId}`);
  if (requests <= testsPerMinute) return;
  const seconds = Math.max(1, Math.ceil(msLeft / 1_000));
  const message = `A workspace sends at most ${testsPerMinute} tests in a minute. Try again in ${seconds} s.`;
  throw new ApiError('rate_limit_exceeded', message, { retryAfter: seconds });
}
