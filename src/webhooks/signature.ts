import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The value of X-Service-Signature: `sha256=` and the lowercase hexadecimal HMAC-SHA256 of the raw body, keyed with
 * the whole secret. Specification, "Webhook signature" 2.
 */
export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/**
 * What a receiver does, for tests and examples: recomputes the signature over the raw body and compares in constant
 * time. A header that is missing or lacks the prefix does not match. Specification, "Webhook signature" 3.
 */
export function verifySignature(secret: string, body: string | Buffer, header: string | undefined): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(header ?? '');
  return expected.length === given.length && timingSafeEqual(expected, given);
}
