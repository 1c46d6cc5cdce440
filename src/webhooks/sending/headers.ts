import packageJson from '../../../package.json' with { type: 'json' };
import type { EventKind } from '../event.ts';
import { signBody, signMessage } from '../signature.ts';

const userAgent = `Formloom-Webhooks/${packageJson.version}`;

type HeaderSource = {
  kind: EventKind;
  deliveryId: string;
  /** When this attempt began, in seconds. */
  timestamp: number;
  body: Buffer;
  /** The newest first; none: nothing is signed. The second is that of before a rotation. */
  secrets: readonly string[];
  custom: Readonly<Record<string, string>>;
  isTest: boolean;
  /** Of the trace that the event belongs to (W3C Trace Context). */
  traceparent?: string | undefined;
};

/**
 * Specification, "Request headers", and beside them those of Standard Webhooks 1.0. What signs is there only when a
 * secret is set (docs/rules.md 3). X-Service-Signature is made with the newest secret; in the day after a rotation
 * X-Service-Signature-Previous has the one of before (docs/decisions/0016).
 */
export function deliveryHeaders(source: HeaderSource): Record<string, string> {
  const { kind, deliveryId, timestamp, body, secrets, custom, isTest, traceparent } = source;
  const [newest, previous] = secrets;
  return {
    ...custom,
    'Content-Type': 'application/json',
    'User-Agent': userAgent,
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

/** How the ledger shows what proves who we are: with it, whoever reads the log could send in our name. */
const shown: Readonly<Record<string, (value: string) => string>> = {
  'X-Service-Signature': () => `sha256=${hidden}`,
  'X-Service-Signature-Previous': () => `sha256=${hidden}`,
  'webhook-signature': (value) => value.replaceAll(/v1,\S+/g, `v1,${hidden}`),
};

/**
 * The headers of a request as the ledger keeps them: with the length, which is added on the way out, without
 * signatures and without the values of the webhook's own headers, which may be passwords.
 * @param custom the names of those.
 */
export const loggedHeaders = (
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
