import type { Form } from '#ast/form/tree.ts';
import { batchCalls } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { currentTrace } from '#kit/log.ts';
import { type OutboundResult, refusedResult } from '#kit/outbound/outbound.ts';
import type { Job, LaneSlot } from '#kit/queue.ts';
import { bytes, columns, nullable, type RowOf, statement, textEnum } from '#kit/statement.ts';
import type { LinkTarget, Vault } from '#kit/vault.ts';
import type { Trigger } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import { findFormOfEvent, formatBody, type WebhookFormat } from '../format-body.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';
import { createDeliveryHeaders } from '../signature.ts';
import { templateColumn } from '../template.ts';

const deliveryColumns = columns(
  'id attempts:integer url secret? header_names active is_test:boolean occurred_at snapshot form_id submission_id',
  {
    status: textEnum<DeliveryStatus>(),
    /** The previous secret; null when it is no longer valid. */
    previous_secret: nullable(bytes),
    /**
     * The custom headers. Null for a test that goes to another URL, because they may contain passwords for the
     * webhook's URL.
     */
    headers: nullable(bytes),
    kind: textEnum<EventKind>(),
    format: textEnum<WebhookFormat>(),
    template: nullable(templateColumn),
  },
);

/** `form` has the questions of the event, for formats that list answers. */
export type Delivery = RowOf<typeof deliveryColumns> & { form: Form | undefined };

export type PreparedRequest = { url: string; headers: Record<string, string>; body: Buffer };

export type PrepareRequestServices = {
  vault: Pick<Vault, 'unseal'>;
  /** Returns the download URL of a file, valid for an hour after `at`. It depends only on its arguments. */
  signLink: (file: LinkTarget, at: Date) => string;
  publicUrl: string;
};

/**
 * Returns the request to send, or why there is none. The bytes that are signed are exactly the bytes that are
 * sent.
 */
export function prepareDeliveryRequest(
  { vault, signLink, publicUrl }: PrepareRequestServices,
  { trigger, startedAt }: { trigger: Trigger; startedAt: Date },
  delivery: Delivery,
): PreparedRequest | OutboundResult {
  const { id, kind, url, active } = delivery;
  // A test is also sent if the webhook is paused, because it shows whether the webhook can be resumed.
  if (!active && trigger !== 'test') return refusedResult('The webhook is paused. Nothing was sent.');
  const body = makeBody(delivery, publicUrl, (file) => signLink(file, startedAt));
  if (!body) return refusedResult('The event is damaged, so the request cannot be built.');
  const secrets = unsealSecrets(vault, delivery);
  const custom = unsealHeaders(vault, delivery);
  if (!secrets || !custom)
    return refusedResult(
      'The secret or a header of the webhook cannot be decrypted with the instance key. Enter it again.',
    );
  const timestamp = Math.floor(startedAt.getTime() / 1_000);
  return {
    url,
    body,
    headers: createDeliveryHeaders({
      kind,
      deliveryId: id,
      timestamp,
      body,
      secrets,
      custom,
      isTest: trigger === 'test',
      traceparent: currentTrace(),
    }),
  };
}

/**
 * Returns the bytes to send, or undefined if this service did not write the event. That event must not be
 * retried forever.
 */
function makeBody(
  { id, kind, occurred_at, snapshot, is_test, ...how }: Delivery,
  publicUrl: string,
  signLink: (file: LinkTarget) => string,
): Buffer | undefined {
  try {
    const source = { kind, occurredAt: occurred_at, deliveryId: id, snapshot, signLink };
    return Buffer.from(formatBody(source, { ...how, isTest: is_test, publicUrl }));
  } catch {
    return undefined;
  }
}

/** Returns the secrets, newest first, or undefined if one was sealed with another key. */
function unsealSecrets(
  vault: PrepareRequestServices['vault'],
  { secret, previous_secret }: Delivery,
): string[] | undefined {
  try {
    return [secret, previous_secret].flatMap((sealed) =>
      sealed ? [vault.unseal('webhook secrets', sealed)] : [],
    );
  } catch {
    return undefined;
  }
}

/** Returns the webhook's custom headers, or undefined if they were sealed with another key. */
function unsealHeaders(
  vault: PrepareRequestServices['vault'],
  { headers }: Delivery,
): Record<string, string> | undefined {
  if (!headers) return {};
  try {
    return JSON.parse(vault.unseal('webhook headers', headers)) as Record<string, string>;
  } catch {
    return undefined;
  }
}

/**
 * Finds all data for the requests of many deliveries. Deleted deliveries, and deliveries with an event larger
 * than `most_bytes`, are not returned.
 *
 * Each row is looked up by its full key, so that the query plan does not depend on statistics. Without
 * statistics, a plain join read all events of the workspace for each delivery (measured: 600 ms instead of 2
 * for 22 of 3,000).
 */
export const findDeliveries = statement('workspace_ids ids most_bytes:integer', deliveryColumns)`
  select wanted.id, delivery.status, delivery.attempts, coalesce(delivery.test_url, webhook.url) as url, webhook.secret,
         case when webhook.previous_secret_until > now() then webhook.previous_secret end as previous_secret,
         case when delivery.test_url is null then webhook.headers end as headers, webhook.header_names, webhook.active,
         webhook.format, webhook.template, delivery.is_test, event.kind, event.occurred_at, event.snapshot::text as snapshot,
         event.form_id, event.submission_id
    from unnest($workspace_ids, $ids) as wanted (workspace_id, id)
   cross join lateral (
      select status, attempts, webhook_id, event_id, is_test, test_url from deliveries
       where workspace_id = wanted.workspace_id and id = wanted.id limit 1) as delivery
   cross join lateral (
      select url, secret, previous_secret, previous_secret_until, headers, header_names, active, format, template
        from webhooks
       where workspace_id = wanted.workspace_id and id = delivery.webhook_id limit 1) as webhook
   cross join lateral (
      select kind, occurred_at, snapshot, form_id, submission_id from events
       where workspace_id = wanted.workspace_id and id = delivery.event_id  and pg_column_size(snapshot) <= $most_bytes limit 1) as event`;

/** The maximum number of deliveries that one statement reads. */
const together = { most: 128, atOnce: 1 } as const;
/**
 * The age, in milliseconds, from which a delivery is read again before it is sent, because its webhook may
 * have changed.
 */
const freshMs = 1_000;
/**
 * The size, in stored bytes, above which an event is read only when its job starts, because hundreds of jobs
 * may be waiting.
 */
const smallBytes = 32 * 1_024;
const anyBytes = 2 ** 31 - 1;

/**
 * Finds the deliveries of jobs, many with one statement. They are read while the jobs wait, so that a quick
 * receiver never waits for the database.
 * @returns the delivery when the job can start, or undefined if the delivery was deleted.
 */
export function createDeliveryFinder(
  database: Database,
): (job: Job, turn: LaneSlot) => Promise<Delivery | undefined> {
  const findSmall = batchCalls((jobs: readonly Job[]) => findAll(database, jobs, smallBytes), together);
  const findAny = batchCalls((jobs: readonly Job[]) => findAll(database, jobs, anyBytes), together);
  return async (job, turn) => {
    const small = await findSmall(job);
    const since = performance.now();
    await turn.enter();
    const isFresh = performance.now() - since < freshMs;
    const found = small && isFresh ? small : await findAny(job);
    return (
      found && {
        ...found,
        form: await findFormOfEvent(database, { ...found, workspace_id: job.workspaceId }),
      }
    );
  };
}

/** Returns the delivery of each job, or undefined if it was deleted or its event is larger. */
async function findAll(
  database: Database,
  jobs: readonly Job[],
  mostBytes: number,
): Promise<(RowOf<typeof deliveryColumns> | undefined)[]> {
  const rows = await findDeliveries(database, {
    workspace_ids: jobs.map(({ workspaceId }) => workspaceId),
    ids: jobs.map(({ id }) => id),
    most_bytes: mostBytes,
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return jobs.map(({ id }) => byId.get(id));
}
