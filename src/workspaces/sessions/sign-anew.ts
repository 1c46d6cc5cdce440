import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Vault } from '#kit/vault.ts';

/**
 * Cookies of a request, those of sessions signed by the key of now where a former key of the instance had signed them: the
 * library knows one secret, and a change of keys would sign everybody out.
 */
export function signAnew(vault: Vault, cookies: string): string {
  const [now, ...former] = vault.derive('sessions');
  return cookies.replaceAll(
    /(?<=\bformloom\.session_token=)([^;.]+)\.([^;]+)/g,
    (given, value: string, signature: string) => {
      const isOurs = former.some((secret) => isSignedBy(secret, value, signature));
      return isOurs ? `${value}.${encodeURIComponent(sign(now, value))}` : given;
    },
  );
}

/** As better-call signs a cookie; what stands before the dot are letters and digits. */
const sign = (secret: string, value: string): string =>
  createHmac('sha256', secret).update(value).digest('base64');

function isSignedBy(secret: string, value: string, signature: string): boolean {
  const expected = Buffer.from(encodeURIComponent(sign(secret, value)));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
