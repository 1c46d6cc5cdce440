import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LinkTarget } from '#kit/vault.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { EventKind, Snapshot } from './event.ts';

/**
 * Returns the value of X-Service-Signature: `sha256=` and the lowercase hexadecimal HMAC-SHA256 of the raw
 * body, keyed with the whole secret. Specification, "Webhook signature" 2.
 */
export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/**
 * What Standard Webhooks signs: `id.timestamp.body`. The timestamp is the start of the attempt, in seconds.
 */
type SignedMessage = { id: string; timestamp: number; body: Buffer };

/**
 * Returns the value of webhook-signature as defined in Standard Webhooks 1.0: for each secret, `v1,` and a
 * base64 HMAC-SHA256, separated by spaces. A receiver accepts any of them, so that secrets can be changed
 * without a gap.
 * @param secrets the secrets, newest first.
 */
const signMessage = (secrets: readonly string[], { id, timestamp, body }: SignedMessage): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');

const standardSecret = /^whsec_([A-Za-z0-9+/]{4,}={0,2})$/;

/**
 * Returns the key of a secret. In Standard Webhooks, `whsec_` is followed by bytes in base64. Any other
 * secret is used as text.
 */
function standardKey(secret: string): Buffer {
  const encoded = standardSecret.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

/**
 * Verifies a signature as a receiver does, for tests and examples. It computes the signature over the raw
 * body and compares in constant time. A header that is missing or lacks the prefix does not match.
 * Specification, "Webhook signature" 3.
 */
export function verifySignature(secret: string, body: string | Buffer, header: string | undefined): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(header ?? '');
  return expected.length === given.length && timingSafeEqual(expected, given);
}

export type DeliveryBodySource = {
  kind: EventKind;
  occurredAt: Date;
  deliveryId: string;
  /**
   * The JSON text of a Snapshot from `events.snapshot`. PostgreSQL stores a json value exactly as it was
   * written.
   */
  snapshot: string;
  /** Returns the download address of a file. It is valid for an hour, so it is created for each send. */
  signLink: (file: LinkTarget) => string;
};

/**
 * Returns the JSON text that is signed and sent. Specification, "Request body". If a delivery is sent again,
 * only its file links differ. A file also has its `id`, which can be used to request a new link.
 * @throws if this service did not write the snapshot.
 */
export function formatDeliveryBody({
  kind,
  occurredAt,
  deliveryId,
  snapshot,
  signLink,
}: DeliveryBodySource): string {
  const head = JSON.stringify({ event: kind, timestamp: occurredAt.toISOString(), delivery_id: deliveryId });
  return `${head.slice(0, -1)},${withLinks(snapshot, signLink).slice(1)}`;
}

/** Signs links for the console and logs, which must give no access to files: the signature is hidden. */
export const signHidden =
  (links: { sign: (file: LinkTarget) => string }): DeliveryBodySource['signLink'] =>
  (file) =>
    links.sign(file).replace(/\?.*$/, '?expires=(hidden)&signature=(hidden)');

/**
 * The beginning of a snapshot and, without files, its end. Users' texts cannot contain them, because
 * quotation marks in texts are escaped.
 */
const beginning = '{"form":{';
const endWithoutFiles = ',"file_uploads":{}}}';

/** Returns the `form` and `submission` of the body. Without files, they equal the snapshot byte for byte. */
function withLinks(snapshot: string, signLink: DeliveryBodySource['signLink']): string {
  if (snapshot.startsWith(beginning) && snapshot.endsWith(endWithoutFiles)) return snapshot;
  const { form, submission } = JSON.parse(snapshot) as Snapshot;
  const uploads = Object.entries(submission.file_uploads).map(([element, files]) => [
    element,
    files.map(({ filename, ...file }) => ({
      filename,
      url: signLink({ workspaceId: form.workspace_id, formId: form.id, id: file.id }),
      ...file,
    })),
  ]);
  return JSON.stringify({ form, submission: { ...submission, file_uploads: Object.fromEntries(uploads) } });
}

export const webhookUserAgent = `Formloom-Webhooks/${packageJson.version}`;

type HeaderSource = {
  kind: EventKind;
  deliveryId: string;
  /** The start of this attempt, in seconds. */
  timestamp: number;
  body: Buffer;
  /**
   * The secrets, newest first. If there are none, nothing is signed. The second is the previous secret after
   * a rotation.
   */
  secrets: readonly string[];
  custom: Readonly<Record<string, string>>;
  isTest: boolean;
  /** The trace that the event belongs to (W3C Trace Context). */
  traceparent?: string | undefined;
};

/**
 * Returns the headers of the specification ("Request headers") and of Standard Webhooks 1.0. Signatures are
 * included only if a secret is set (docs/rules.md 3). X-Service-Signature uses the newest secret. For a day
 * after a rotation, X-Service-Signature-Previous uses the previous one (docs/decisions/0016).
 */
export function createDeliveryHeaders(source: HeaderSource): Record<string, string> {
  const { kind, deliveryId, timestamp, body, secrets, custom, isTest, traceparent } = source;
  const [newest, previous] = secrets;
  return {
    ...custom,
    'Content-Type': 'application/json',
    'User-Agent': webhookUserAgent,
    'X-Service-Event': kind,
    'X-Service-Delivery-ID': deliveryId,
    ...(isTest && { 'X-Service-Test': 'true' }),
    ...(traceparent !== undefined && { traceparent }),
    ...(newest !== undefined && {
      'X-Service-Signature': signBody(newest, body),
      ...(previous !== undefined && { 'X-Service-Signature-Previous': signBody(previous, body) }),
      'webhook-id': deliveryId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signMessage(secrets, { id: deliveryId, timestamp, body }),
    }),
  };
}

const hidden = '(hidden)';

/** How the delivery log hides signatures. A person who read them could send requests in our name. */
const shown: Readonly<Record<string, (value: string) => string>> = {
  'X-Service-Signature': () => `sha256=${hidden}`,
  'X-Service-Signature-Previous': () => `sha256=${hidden}`,
  'webhook-signature': (value) => value.replaceAll(/v1,\S+/g, `v1,${hidden}`),
};

/**
 * Returns the headers of a request for the delivery log. They include the length, which is added when the
 * request is sent. Signatures and the values of custom headers, which may be passwords, are hidden.
 * @param custom the names of the custom headers.
 */
export const redactLoggedHeaders = (
  { headers, body }: { headers: Readonly<Record<string, string>>; body: Buffer },
  custom: readonly string[],
): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      custom.includes(name) ? hidden : (shown[name]?.(value) ?? value),
    ]),
  ),
  'Content-Length': String(body.length),
});
