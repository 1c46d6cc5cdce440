import { effectiveForm } from '#ast/effective-form.ts';
import { describeFields } from '#ast/describe.ts';
import type { Form } from '#ast/tree.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import { currentTrace } from '#kit/trace.ts';
import { countUpTo } from '#workspaces/limit.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { laneOf } from '../delivery-job.ts';
import { type EventKind, type Snapshot, snapshotOf } from '../event.ts';
import { sampleSubmission } from './sample.ts';
import { refuse, urlProblems } from '../editing/webhook-problems.ts';
import { findForm } from '#forms/require-form.ts';
import { insertEvents, lockWebhook } from '../record-event.ts';

export type SendTestContext = {
  database: Database;
  config: Pick<Config, 'webhookAllowNetworks' | 'publicUrl'>;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};

export type TestOf = {
  workspaceId: string;
  webhookId: string;
  kind: EventKind;
  /** Where it goes instead of to the webhook's address, which the webhook's own headers are for. */
  url?: string | undefined;
};

/** In one minute and workspace: enough to try things out, too few to look around in a network (docs/rules.md T10). */
const testsPerMinute = 30;
const tooManyTests = `A workspace sends at most ${testsPerMinute} tests in a minute.`;

/**
 * Sends a sample of the form's live version to a webhook, paused or not, through the way of every delivery: the
 * same queue, guard, signature, request and log. It is one request, never retried, and counts for nothing.
 * @returns the id of the delivery in the log, where its outcome will stand.
 * @throws ApiError not_found; rate_limit_exceeded; validation_error for an address that no webhook may have.
 */
export async function sendTest(context: SendTestContext, test: TestOf): Promise<{ deliveryId: string }> {
  const [deliveryId] = await sendAll(context, test, 1, async (client, formId) => {
    const form = requireRow(await findForm(client, { workspace_id: test.workspaceId, id: formId }));
    // The structure was validated when it became the live version.
    const structure = effectiveForm(form.structure);
    return [sampleSnapshot({ id: form.id, name: form.name, workspaceId: test.workspaceId }, structure)];
  });
  return { deliveryId: deliveryId! };
}

/**
 * The same with real submissions: what they tell is real, but the events are none, and each has a delivery id of its
 * own, so that a receiver that knows the submission already takes the test for no repetition.
 * @param snapshots of submissions of the webhook's form.
 * @returns the deliveries' ids, in the order of the snapshots.
 */
export const sendSubmissionTests = (
  context: SendTestContext,
  test: TestOf,
  snapshots: readonly Snapshot[],
): Promise<string[]> => sendAll(context, test, snapshots.length, async () => snapshots);

async function sendAll(
  { database, config, requestCounter, wakeQueue }: SendTestContext,
  test: TestOf,
  count: number,
  snapshotsOf: (client: Queryable, formId: string) => Promise<readonly Snapshot[]>,
): Promise<string[]> {
  const { workspaceId, webhookId, url } = test;
  for (let sent = 0; sent < count; sent += 1)
    await countUpTo(requestCounter, `webhook tests of ${workspaceId}`, testsPerMinute, { why: tooManyTests });
  if (url !== undefined) refuse(await urlProblems(config, url));
  const ids = await transaction(database, async (client) => {
    const webhook = requireRow(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    return insertTests(client, test, webhook.form_id, await snapshotsOf(client, webhook.form_id));
  });
  wakeQueue();
  return ids;
}

async function insertTests(
  client: Queryable,
  { workspaceId, webhookId, kind, url }: TestOf,
  formId: string,
  snapshots: readonly Snapshot[],
): Promise<string[]> {
  const ids = snapshots.map(() => newId());
  const all = <Value>(value: Value): Value[] => ids.map(() => value);
  await insertEvents(client, {
    workspace_id: workspaceId,
    form_id: formId,
    event_ids: ids,
    submission_ids: snapshots.map(({ submission }) => submission.id),
    kinds: all(kind),
    occurred_ats: ids.map(timeOfId),
    snapshots: snapshots.map((snapshot) => JSON.stringify(snapshot)),
    delivery_ids: ids,
    delivery_events: ids,
    delivery_kinds: all(kind),
    webhook_ids: all(webhookId),
    lanes: all(laneOf(webhookId)),
    are_sent: all(true),
    trigger: 'test',
    traceparent: currentTrace() ?? null,
    test_url: url ?? null,
  });
  return ids;
}

/** A submission that was never made, as an event would freeze it. */
export function sampleSnapshot(
  place: { id: string; name: string; workspaceId: string },
  form: Form,
): Snapshot {
  const submissionId = newId();
  const submission = {
    id: submissionId,
    submittedAt: timeOfId(submissionId),
    status: 'completed',
    ...sampleSubmission(form, now().toISOString().slice(0, 10)),
  };
  return snapshotOf({ form: place, submission, fields: describeFields(form) });
}
