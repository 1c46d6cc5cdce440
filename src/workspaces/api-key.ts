import { hash } from 'node:crypto';
import { nullable, type StatementColumn, statement, texts } from '#kit/statement.ts';
import type { Permission } from '#rules/permissions.ts';

/** Enough random bytes that a fast hash keeps the key safe (docs/rules.md T11 asks for 24). */
export const apiKeyBytes = 32;

/** The scheme is case-insensitive (RFC 9110, 11.1), and several spaces may follow it. */
const authorizationPattern = /^Bearer[ \t]+(fl_[A-Za-z0-9_-]{43})$/i;

/**
 * Returns the key for 32 random bytes: `fl_` followed by their base64url, 46 characters in total. By `fl_`,
 * secret scanners and people recognize our keys.
 */
export function makeApiKey(random: Buffer): string {
  if (random.length !== apiKeyBytes) throw new RangeError(`an API key is made from ${apiKeyBytes} bytes`);
  return `fl_${random.toString('base64url')}`;
}

/**
 * Returns the SHA-256 of a key, which the database stores. 256 random bits can't be guessed, so no slow hash
 * is needed.
 */
export const hashApiKey = (key: string): Buffer => hash('sha256', key, 'buffer');

/**
 * Returns the first 11 characters, by which people distinguish keys in a list. They reveal 8 of the 43 random
 * characters, which leaves 208 bits.
 */
export const prefixOfApiKey = (key: string): string => key.slice(0, 11);

/**
 * Parses the key in the Authorization header: exactly one header, `Bearer <key>` (specification,
 * "Authentication" 1).
 * @param header one value, or all values of this header in a request (Node's `headersDistinct`).
 * @returns undefined for everything else, so that malformed values are not hashed or looked up.
 */
export function parseAuthorization(header: string | readonly string[] | undefined): string | undefined {
  const values = typeof header === 'string' ? [header] : (header ?? []);
  return values.length === 1 ? authorizationPattern.exec(values[0]!)?.[1] : undefined;
}

let lastAuthorization: { header: unknown; hash: Buffer | undefined } | undefined;

/**
 * Returns the hash by which the directory and the database find a key; undefined if parseAuthorization
 * rejects the header. A request needs it twice, for its cell and for its caller. Therefore the last header is
 * not hashed again (measured: saves 2 of the 145 µs of a GET).
 */
export function hashKeyFromHeader(header: string | readonly string[] | undefined): Buffer | undefined {
  if (typeof header === 'object' && lastAuthorization?.header === header) return lastAuthorization.hash;
  const key = parseAuthorization(header);
  const hash = key === undefined ? undefined : hashApiKey(key);
  lastAuthorization = { header, hash };
  return hash;
}

export const permissionsColumn: StatementColumn<Permission[]> = { pg: texts.pg };

/** Adds an API key; no row if the workspace does not exist. */
export const insertApiKey = statement(
  [
    'workspace_id id name prefix form_ids? created_by? created_at expires_at?',
    { permissions: nullable(permissionsColumn) },
  ],
  'id',
)`
  insert into api_keys (workspace_id, id, name, prefix, permissions, form_ids, created_by, created_at, expires_at,
                        updated_at)
  select id, $id, $name, $prefix, $permissions, $form_ids, $created_by, $created_at, $expires_at, $created_at
    from workspaces
   where id = $workspace_id
  returning id`;

/** The channel that announces changed keys (NOTIFY, no payload). Listeners call clearKeyCache(). */
export const keyChangeChannel = 'formloom_keys';

/**
 * Tells all processes to clear their cached keys after the commit. Needed after every change that limits
 * keys.
 */
export const notifyKeyChange = statement('', '')`
  select from pg_notify('${keyChangeChannel}', '')`;

/** Revokes the keys whose secret a person saw. */
export const revokeKeysOfUser = statement('workspace_id user_id now', '')`
  update api_keys set revoked_at = $now, updated_at = $now
   where workspace_id = $workspace_id and created_by = $user_id and revoked_at is null`;
