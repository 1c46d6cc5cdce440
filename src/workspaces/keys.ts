import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { apiKeyBytes, hashApiKey, makeApiKey, prefixOf } from './api-key.ts';
import { forgetKeys, keyChannel } from './authenticate.ts';
import { isPermission, type Permission, permissionNames } from './permissions.ts';
import { nameProblems, refuseProblems } from './problems.ts';
import { insertApiKey, insertApiKeyLookup, revokeApiKey, selectApiKeys } from './queries.ts';

/** What a key is made with. Without permissions it has all of them; without expiresAt it does not expire. */
export type NewKey = {
  workspaceId: string;
  name: string;
  permissions?: readonly string[] | undefined;
  expiresAt?: Date | undefined;
};

/** A key as its workspace sees it: never the key itself, which is shown once, when it is made. */
export type ApiKey = {
  id: string;
  name: string;
  prefix: string;
  permissions: readonly Permission[] | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
};

/**
 * Makes a key. Specification, "Authentication" 3: with a descriptive name, displayed once, here.
 * @throws ApiError validation_error with every problem; not_found when there is no such workspace.
 */
export function createKey(database: Database, key: NewKey): Promise<{ id: string; key: string }> {
  return transaction(database, (client) => addKey(client, key));
}

/** createKey within a transaction that the caller has begun. */
export async function addKey(
  client: ClientBase,
  { workspaceId, name, permissions, expiresAt }: NewKey,
): Promise<{ id: string; key: string }> {
  refuseProblems([...nameProblems('name', name), ...permissionProblems(permissions)]);
  const id = newId();
  const key = makeApiKey(randomBytes(apiKeyBytes));
  const added = await insertApiKey(client, {
    workspace_id: workspaceId,
    id,
    name,
    prefix: prefixOf(key),
    permissions: permissions ? [...new Set(permissions.filter(isPermission))] : null,
    created_at: timeOfId(id),
    expires_at: expiresAt ?? null,
  });
  if (added.length === 0) throw new ApiError('not_found', 'There is no such workspace.');
  await insertApiKeyLookup(client, { hash: hashApiKey(key), workspace_id: workspaceId, api_key_id: id });
  return { id, key };
}

/** The keys of a workspace, newest first, the revoked and expired ones too. */
export async function listKeys(database: Database, workspaceId: string): Promise<ApiKey[]> {
  const rows = await selectApiKeys(database, { workspace_id: workspaceId });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    permissions: row.permissions,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }));
}

/**
 * Ends a key at once: in this process before this returns, in the others when they hear of it (keyChannel), within a
 * second in any case. Revoking a revoked key changes nothing.
 * @throws ApiError not_found when the workspace has no such key.
 */
export async function revokeKey(
  database: Database,
  key: { workspaceId: string; keyId: string },
): Promise<{ id: string; revokedAt: Date }> {
  const [revoked] = await revokeApiKey(database, {
    workspace_id: key.workspaceId,
    id: key.keyId,
    now: now(),
    channel: keyChannel,
  });
  if (!revoked) throw new ApiError('not_found', 'There is no such API key.');
  forgetKeys();
  return { id: key.keyId, revokedAt: revoked.revoked_at };
}

function permissionProblems(permissions: readonly string[] | undefined): ErrorItem[] {
  if (permissions === undefined) return [];
  const known = `Known permissions: ${permissionNames.join(', ')}.`;
  if (permissions.length === 0) return [{ field: 'permissions', message: `Name at least one. ${known}` }];
  return permissions
    .filter((name) => !isPermission(name))
    .map((name) => ({ field: 'permissions', message: `"${name}" is no permission. ${known}` }));
}
