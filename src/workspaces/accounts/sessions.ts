import { createHmac, timingSafeEqual } from 'node:crypto';
import { statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';

/** Lists the sessions of a person, newest first, including those still waiting for two-factor. */
export const selectSessions = statement(
  'user_id now',
  'id:text user_agent:text? created_at updated_at is_halfway:boolean',
)`
  select s.id, s.user_agent, s.created_at, s.updated_at, u.second_factor and s.second_factor_at is null as is_halfway
    from sessions s join users u on u.id = s.user_id
   where s.user_id = $user_id and s.expires_at > $now
   order by s.created_at desc, s.id desc
   limit 200`;

export const endSession = statement('user_id id:text', 'id:text')`
  delete from sessions where user_id = $user_id and id = $id returning id`;

export const endOtherSessions = statement('user_id id:text', 'id:text')`
  delete from sessions where user_id = $user_id and id <> $id returning id`;

/**
 * Signs session cookies again with the current instance key if a previous key had signed them. The library
 * knows only one secret, so without this, changing the key would sign everyone out.
 */
export function renewCookieSignatures(vault: Vault, cookies: string): string {
  const [now, ...former] = vault.derive('sessions');
  return cookies.replaceAll(
    /(?<=\bformloom\.session_token=)([^;.]+)\.([^;]+)/g,
    (given, value: string, signature: string) => {
      const isOurs = former.some((secret) => isSignedBy(secret, value, signature));
      return isOurs ? `${value}.${encodeURIComponent(sign(now, value))}` : given;
    },
  );
}

/** Signs a cookie as better-call does; the part before the dot is alphanumeric. */
const sign = (secret: string, value: string): string =>
  createHmac('sha256', secret).update(value).digest('base64');

function isSignedBy(secret: string, value: string, signature: string): boolean {
  const expected = Buffer.from(encodeURIComponent(sign(secret, value)));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
