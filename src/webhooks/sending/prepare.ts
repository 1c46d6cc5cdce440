import { type OutboundResult, refusal } from '#kit/outbound.ts';
import type { LinkTarget } from '#kit/personal-link.ts';
import { bytes, columns, nullable, type RowOf, word } from '#kit/statement.ts';
import { currentTrace } from '#kit/trace.ts';
import type { Vault } from '#kit/vault.ts';
import { deliveryBody } from '../body.ts';
import type { Trigger } from '../delivery-job.ts';
import { deliveryHeaders } from './headers.ts';
import type { EventKind } from '../event.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

export const deliveryColumns = columns(
  'id attempts:integer url secret? header_names active occurred_at snapshot',
  {
    status: word<DeliveryStatus>(),
    /** Null as soon as its day is over. */
    previous_secret: nullable(bytes),
    /** Null also for a test that goes to another address: they may be passwords for this one. */
    headers: nullable(bytes),
    kind: word<EventKind>(),
  },
);

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
