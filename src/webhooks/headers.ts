import packageJson from '../../package.json' with { type: 'json' };
import type { EventKind } from './event.ts';

const signatureHeader = 'X-Service-Signature';
const userAgent = `Formloom-Webhooks/${packageJson.version}`;

/**
 * Specification, "Request headers". The signature's header is there only when a secret is set (DESIGN 4.3).
 */
export const deliveryHeaders = (delivery: {
  kind: EventKind;
  deliveryId: string;
  signature: string | undefined;
}): Record<string, string> => ({
  'Content-Type': 'application/json',
  'User-Agent': userAgent,
  'X-Service-Event': delivery.kind,
  'X-Service-Delivery-ID': delivery.deliveryId,
  ...(delivery.signature !== undefined && { [signatureHeader]: delivery.signature }),
});

/**
 * The headers of a request as the delivery log keeps them: with the length, which is added on the way out, and
 * without the signature, with which whoever reads the log could send the request again in our name.
 */
export const loggedHeaders = ({
  headers,
  body,
}: {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}): Record<string, string> => ({
  ...headers,
  'Content-Length': String(body.length),
  ...(signatureHeader in headers && { [signatureHeader]: 'sha256=(hidden)' }),
});
