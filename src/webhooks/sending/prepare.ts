import { gather } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { currentTrace } from '#kit/log.ts';
import { type OutboundResult, refusal } from '#kit/outbound/outbound.ts';
import type { Job, LaneTurn } from '#kit/queue.ts';
import { bytes, columns, nullable, type RowOf, statement, word } from '#kit/statement.ts';
import type { LinkTarget, Vault } from '#kit/vault.ts';
import type { Trigger } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';
import { deliveryBody, deliveryHeaders } from '../signature.ts';

const deliveryColumns = columns('id attempts:integer url secret? header_names active occurred_at snapshot', {
  status: word<DeliveryStatus>(),
  /** Null as soon as its day is over. */
  previous_secret: nullable(bytes),
  /** Null also for a test that goes to another address: they may be passwords for this one. */
  headers: nullable(bytes),
  kind: word<EventKind>(),
});

export type Delivery = RowOf<typeof deliveryColumns>;

export type PreparedRequest = { url: string; headers: Record<string, string>; body: Buffer };

export type PrepareContext = {
  vault: Pick<Vault, 'unseal'>;
  /** The download address of a file, good for an hour from then. The same moment gives the same address. */
  signLink: (file: LinkTarget, at: Date) => string;
};

/** The request as it will be sent, or why none will be. The bytes that are signed are the bytes that are sent. */
export function prepare(
  { vault, signLink }: PrepareContext,
  { trigger, startedAt }: { trigger: Trigger; startedAt: Date },
  delivery: Delivery,
): PreparedRequest | OutboundResult {
  const { id, kind, url, active } = delivery;
  // A test tells whether it is time to take up a webhook again.
  if (!active && trigger !== 'test') return refusal('The webhook is paused; nothing was sent.');
  const body = makeBody(delivery, (file) => signLink(file, startedAt));
  if (!body) return refusal('The request cannot be made from its event, which is damaged.');
  const secrets = unsealSecrets(vault, delivery);
  const custom = unsealHeaders(vault, delivery);
  if (!secrets || !custom)
    return refusal('The secret or a header of the webhook cannot be read with the key of this server.');
  const timestamp = Math.floor(startedAt.getTime() / 1_000);
  return {
    url,
    body,
    headers: deliveryHeaders({
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

/** The bytes to send; undefined when the event is not what this service wrote: one such must not be tried for ever. */
function makeBody(
  { id, kind, occurred_at, snapshot }: Delivery,
  signLink: (file: LinkTarget) => string,
): Buffer | undefined {
  try {
    return Buffer.from(deliveryBody({ kind, occurredAt: occurred_at, deliveryId: id, snapshot, signLink }));
  } catch {
    return undefined;
  }
}

/** The newest first; undefined when one was sealed with another key. */
function unsealSecrets(
  vault: PrepareContext['vault'],
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

/** The webhook's own headers; undefined when they were sealed with another key. */
function unsealHeaders(
  vault: PrepareContext['vault'],
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
 * All that requests are made of, for many deliveries. Those that are gone, and those whose event is larger than asked
 * for, are not among the rows.
 *
 * Each row is looked up by its whole key, whatever the planner thinks of the tables: with a plain join and without
 * statistics it read all events of the workspace for each delivery (measured: 600 ms instead of 2 for 22 of 3,000).
 */
export const findDeliveries = statement(
  'webhooks.find_deliveries',
  'workspace_ids ids most_bytes:integer',
  deliveryColumns,
  `select wanted.id, delivery.status, delivery.attempts, coalesce(delivery.test_url, webhook.url) as url, webhook.secret,
          case when webhook.previous_secret_until > now() then webhook.previous_secret end as previous_secret,
          case when delivery.test_url is null then webhook.headers end as headers, webhook.header_names, webhook.active,
          event.kind, event.occurred_at, event.snapshot::text as snapshot
     from unnest($workspace_ids, $ids) as wanted (workspace_id, id)
    cross join lateral (
       select status, attempts, webhook_id, event_id, test_url from deliveries
        where workspace_id = wanted.workspace_id and id = wanted.id limit 1) as delivery
    cross join lateral (
       select url, secret, previous_secret, previous_secret_until, headers, header_names, active from webhooks
        where workspace_id = wanted.workspace_id and id = delivery.webhook_id limit 1) as webhook
    cross join lateral (
       select kind, occurred_at, snapshot from events
        where workspace_id = wanted.workspace_id and id = delivery.event_id  and pg_column_size(snapshot) <= $most_bytes limit 1) as event`,
);

/** Deliveries that one statement reads at most. */
const together = { most: 128, atOnce: 1 } as const;
/** What was read longer ago is read again before it is sent: its webhook may be another by now. */
const freshMs = 1_000;
/** A larger event, in bytes as it is stored, is read when its turn has come: hundreds may wait for theirs. */
const smallBytes = 32 * 1_024;
const anyBytes = 2 ** 31 - 1;

/**
 * Finds the deliveries of jobs, many with one statement. They are read while they wait for their turn, so that a
 * receiver that answers at once never waits for the database.
 * @returns the delivery, when the job's turn has come; undefined for one that is gone.
 */
export function findInTurn(database: Database): (job: Job, turn: LaneTurn) => Promise<Delivery | undefined> {
  const findSmall = gather((jobs: readonly Job[]) => findAll(database, jobs, smallBytes), together);
  const findAny = gather((jobs: readonly Job[]) => findAll(database, jobs, anyBytes), together);
  return async (job, turn) => {
    const small = await findSmall(job);
    const since = performance.now();
    await turn.enter();
    const isFresh = performance.now() - since < freshMs;
    return small && isFresh ? small : findAny(job);
  };
}

/** The delivery of each job; undefined for one that is gone, or whose event is larger. */
async function findAll(
  database: Database,
  jobs: readonly Job[],
  mostBytes: number,
): Promise<(Delivery | undefined)[]> {
  const rows = await findDeliveries(database, {
    workspace_ids: jobs.map(({ workspaceId }) => workspaceId),
    ids: jobs.map(({ id }) => id),
    most_bytes: mostBytes,
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return jobs.map(({ id }) => byId.get(id));
}
