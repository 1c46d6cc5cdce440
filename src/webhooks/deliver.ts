import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type Outbound, openOutbound, type OutboundResult } from '#kit/outbound.ts';
import { completeJob, type Job, type JobHandler, rescheduleJob } from '#kit/queue.ts';
import { only, type RowOf } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { deliveryBody } from './body.ts';
import type { DeliverJobPayload, Trigger } from './delivery-job.ts';
import { deliveryHeaders, loggedHeaders } from './headers.ts';
import { type deliveryColumns, findDelivery, recordAttempt } from './queries.ts';
import { judge } from './retry.ts';
import { signBody } from './signature.ts';

export type DeliveryContext = {
  database: Database;
  vault: Pick<Vault, 'unseal'>;
  /** The download address of a file, good for an hour. */
  signLink: (workspaceId: string, fileId: string) => string;
  /** Seconds to wait after the first failure, the second, ... */
  retryDelays: readonly number[];
  timeoutSeconds: number;
  /** CIDRs that receivers may have although they are not public. */
  allowNetworks: readonly string[];
  /** Where this service itself is reached; a webhook to it would be a loop. */
  ownUrls?: readonly string[];
};

type Delivery = RowOf<typeof deliveryColumns>;

/** The handler of the jobs that send: one request for one delivery, prepare, send, settle. */
export function deliverWebhook(context: DeliveryContext): JobHandler {
  const { allowNetworks, ownUrls = [], timeoutSeconds } = context;
  const outbound = openOutbound({ allowNetworks, ownUrls, timeoutMs: timeoutSeconds * 1_000 });
  return (job, signal) => deliver(context, outbound, job, signal);
}

async function deliver(
  context: DeliveryContext,
  outbound: Outbound,
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  const delivery = only(await findDelivery(context.database, { workspace_id: job.workspaceId, id: job.id }));
  // Its webhook was deleted, and its log with it.
  if (delivery?.status !== 'Retrying') return completeJob(context.database, job);
  const startedAt = now();
  const request = prepare(context, job, delivery);
  const result = 'kind' in request ? request : await outbound.sendRequest({ ...request, signal });
  // What was refused never left.
  const sent = 'kind' in request || result.kind === 'refusal' ? null : request;
  await settle(context, job, { delivery, startedAt, sent, result });
}

type PreparedRequest = { url: string; headers: Record<string, string>; body: Buffer };

const refuse = (reason: string): OutboundResult => ({ kind: 'refusal', reason, ms: 0 });

/** The request as it will be sent, or why none will be. The bytes that are signed are the bytes that are sent. */
function prepare(
  { vault, signLink }: DeliveryContext,
  { workspaceId, id, payload }: Job,
  { kind, occurred_at, snapshot, url, secret, active }: Delivery,
): PreparedRequest | OutboundResult {
  // A test tells whether it is time to take up a webhook again.
  if (!active && triggerOf(payload) !== 'test') return refuse('The webhook is paused; nothing was sent.');
  const text = deliveryBody({
    kind,
    occurredAt: occurred_at,
    deliveryId: id,
    snapshot,
    signLink: (fileId) => signLink(workspaceId, fileId),
  });
  const body = Buffer.from(text);
  const plain = secret && unseal(vault, secret);
  if (plain === undefined)
    return refuse('The secret of the webhook cannot be read with the key of this server.');
  const signature = plain === null ? undefined : signBody(plain, body);
  return { url, headers: deliveryHeaders({ kind, deliveryId: id, signature }), body };
}

const triggerOf = (payload: unknown): Trigger => (payload as DeliverJobPayload).trigger;

/** Why a request is not repeated by itself. */
const lastWords: Readonly<Record<Trigger, string>> = {
  schedule: 'No automatic retries are left.',
  manual: 'A retry by hand is one request.',
  test: 'A test is one request.',
};

/** The secret, or undefined when it was sealed with another key. */
function unseal(vault: DeliveryContext['vault'], secret: Buffer): string | undefined {
  try {
    return vault.unseal('webhook secrets', secret);
  } catch {
    return undefined;
  }
}

/** `sent` is null when nothing left the house. */
type Outcome = { delivery: Delivery; startedAt: Date; sent: PreparedRequest | null; result: OutboundResult };

/**
 * Writes the outcome in one transaction: what becomes of the job, of the delivery, and a line of its history.
 * The job comes first: when the lease is lost, nothing else is written.
 */
async function settle(
  { database, retryDelays }: DeliveryContext,
  job: Job,
  { delivery, startedAt, sent, result }: Outcome,
): Promise<void> {
  const trigger = triggerOf(job.payload);
  const delays = trigger === 'schedule' ? retryDelays : [];
  const verdict = judge(result, delivery.attempts + 1, delays, lastWords[trigger]);
  await transaction(database, async (client) => {
    if (verdict.status === 'Retrying') await rescheduleJob(client, job, { delay: verdict.delay });
    else await completeJob(client, job);
    await recordAttempt(client, {
      workspace_id: job.workspaceId,
      delivery_id: job.id,
      status: verdict.status,
      delay: verdict.status === 'Retrying' ? verdict.delay : null,
      trigger,
      url: sent?.url ?? null,
      request_headers: sent && loggedHeaders(sent),
      started_at: startedAt,
      response_status: result.kind === 'answer' ? result.status : null,
      response_ms: result.ms,
      response_body: result.kind === 'answer' ? result.bodyHead : null,
      reason: verdict.reason,
    });
  });
}
