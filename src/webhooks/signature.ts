import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The value of X-Service-Signature: `sha256=` and the lowercase hexadecimal HMAC-SHA256 of the raw body, keyed with
 * the whole secret. Specification, "Webhook signature" 2.
 */
export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** What Standard Webhooks signs: `id.timestamp.body`. The timestamp is the attempt's, in seconds. */
type SignedMessage = { id: string; timestamp: number; body: Buffer };

/**
 * The value of webhook-signature by Standard Webhooks 1.0: for each secret `v1,` and a base64 HMAC-SHA256, separated
 * by blanks. A receiver accepts any of them, so that secrets can be changed without a gap.
 * @param secrets the newest first.
 */
export const signMessage = (secrets: readonly string[], { id, timestamp, body }: SignedMessage): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');

const standardSecret = /^whsec_([A-Za-z0-9+/]{4,}={0,2})$/;

/** `whsec_` and base64 stand for bytes, as Standard Webhooks has it; any other secret is its own text. */
function standardKey(secret: string): Buffer {
  const encoded = standardSecret.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

/**
 * What a receiver does, for tests and examples: recomputes the signature over the raw body and compares in constant
 * time. A header that is missing or lacks the prefix does not match. Specification, "Webhook signature" 3.
 */
export function verifySignature(secret: string, body: string | Buffer, header: string | undefined): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(header ?? '');
  return expected.length === given.length && timingSafeEqual(expected, given);
}
