import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { IfMatchTimes } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { nullable, type Queryable, statement, text, textEnum } from '#kit/statement.ts';
import { isPermission, type Permission, permissionNames, type Role } from '#rules/permissions.ts';
import { nameProblems, throwProblems } from './accounts/users.ts';
import {
  apiKeyBytes,
  hashApiKey,
  insertApiKey,
  makeApiKey,
  notifyKeyChange,
  permissionsColumn,
  prefixOfApiKey,
} from './api-key.ts';
import { enqueueEmailEvent } from './audit/email-events.ts';
import { clearKeyCache } from './authenticate.ts';

const insertApiKeyLookup = statement('hash workspace_id api_key_id', '')`
  insert into api_key_lookup (hash, workspace_id, api_key_id) values ($hash, $workspace_id, $api_key_id)`;

const findForeignForms = statement('workspace_id form_ids', 'id')`
  select given.id from unnest($form_ids) as given (id)
  where not exists (
    select from forms f where f.workspace_id = $workspace_id and f.id = given.id and f.deleted_at is null)`;

/**
 * Lists API keys, newest first, or reads one. Includes the role of its creator, its requests since the day
 * `since`, and the expiry of a previous secret that still works.
 */
const selectApiKeys = statement('workspace_id id? now since:text', [
  'id name prefix form_ids? created_by? created_at updated_at expires_at? revoked_at?',
  'last_used_at? last_used_address:text? former_until? requests:bigint',
  { permissions: nullable(permissionsColumn), maker_role: nullable(textEnum<Role>()) },
])`
  select k.id, k.name, k.prefix, k.permissions, k.form_ids, u.name as created_by, m.role as maker_role, k.created_at,
         k.updated_at, k.expires_at, k.revoked_at, k.last_used_at, k.last_used_address,
         (select max(l.expires_at) from api_key_lookup l
           where l.workspace_id = k.workspace_id and l.api_key_id = k.id and l.expires_at > $now) as former_until,
         (select coalesce(sum(d.requests), 0)::bigint from api_key_days d
           where d.workspace_id = k.workspace_id and d.api_key_id = k.id and d.day >= $since::date) as requests
    from api_keys k left join users u on u.id = k.created_by
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
   where k.workspace_id = $workspace_id and ($id is null or k.id = $id)
   order by k.id desc`;

/** Revokes an API key. Revoking it again keeps the time of the first revocation. */
const revokeApiKey = statement('workspace_id id unchanged? now', 'revoked_at')`
  update api_keys set revoked_at = coalesce(revoked_at, $now), updated_at = $now
   where workspace_id = $workspace_id and id = $id and ($unchanged is null or updated_at = any ($unchanged))
  returning revoked_at`;

/** Changes the columns in `named` of a key that is not revoked; null removes a limit. */
const updateApiKey = statement(
  [
    'workspace_id id named:texts name? form_ids? expires_at? unchanged? now',
    { permissions: nullable(permissionsColumn) },
  ],
  'id',
)`
  update api_keys
     set name = coalesce($name, name), updated_at = $now,
         permissions = case when 'permissions' = any ($named) then $permissions else permissions end,
         form_ids = case when 'form_ids' = any ($named) then $form_ids else form_ids end,
         expires_at = case when 'expires_at' = any ($named) then $expires_at else expires_at end
   where workspace_id = $workspace_id and id = $id and revoked_at is null
     and ($unchanged is null or updated_at = any ($unchanged))
  returning id`;

/**
 * Replaces the secret of a key. Previous secrets end at `former_until`, and expired ones are deleted. No row
 * if the key is revoked or missing.
 */
const rotateApiKey = statement(
  [
    'workspace_id id hash prefix now former_until',
    {
      /** The person who sees the new secret; null for the operator. */
      rotated_by: nullable(text),
    },
  ],
  'id',
)`
  with key as (
    update api_keys set prefix = $prefix, created_by = $rotated_by, updated_at = $now
     where workspace_id = $workspace_id and id = $id and revoked_at is null
    returning workspace_id, id
  ),
  ended as (
    delete from api_key_lookup l using key k
     where l.workspace_id = k.workspace_id and l.api_key_id = k.id and l.expires_at <= $now
  ),
  former as (
    update api_key_lookup l set expires_at = least(l.expires_at, $former_until) from key
     where l.workspace_id = key.workspace_id and l.api_key_id = key.id
       and (l.expires_at is null or l.expires_at > $now)
  ),
  fresh as (
    insert into api_key_lookup (hash, workspace_id, api_key_id) select $hash, workspace_id, id from key
  )
  select id from key`;

/**
 * A new API key. Without permissions it has all data permissions; without formIds it can access every form,
 * including later ones; without expiresAt it does not expire.
 */
export type NewApiKey = {
  workspaceId: string;
  name: string;
  permissions?: readonly string[] | undefined;
  formIds?: readonly string[] | undefined;
  expiresAt?: Date | undefined;
  /** The member who creates it; undefined for keys of the operator and the setup. */
  createdBy?: string | undefined;
};

/**
 * An API key without its secret, which is only shown when it is created. `created_by` is the name of the
 * member who created it or last rotated it, and so saw its secret. The current role of that member
 * (`maker_role`) limits the key; it is null for the operator's keys, or if they are no longer a member.
 */
export type ApiKey = Awaited<ReturnType<typeof selectApiKeys>>[number];

/** The number of days, including today (UTC), over which lists count a key's requests. */
export const requestCountDays = 7;
/** The longest time, in hours, that a previous secret works after a rotation. */
export const longestGraceHours = 168;
const hourMs = 3_600_000;

/**
 * Creates an API key. Specification, "Authentication" 3: it has a descriptive name and is displayed only
 * once, here.
 * @throws ApiError validation_error with all problems; not_found if the workspace does not exist.
 */
export function createKey(database: Database, key: NewApiKey): Promise<{ id: string; key: string }> {
  return transaction(database, (client) => createKeyInTransaction(client, key));
}

/** Creates an API key in the caller's transaction. */
export async function createKeyInTransaction(
  client: ClientBase,
  { workspaceId, name, permissions, formIds, expiresAt, createdBy }: NewApiKey,
): Promise<{ id: string; key: string }> {
  throwProblems([
    ...nameProblems('name', name),
    ...permissionProblems(permissions),
    ...(await formProblems(client, workspaceId, formIds)),
  ]);
  const id = newId();
  const key = makeApiKey(randomBytes(apiKeyBytes));
  const added = await insertApiKey(client, {
    workspace_id: workspaceId,
    id,
    name,
    prefix: prefixOfApiKey(key),
    permissions: permissionsOf(permissions),
    form_ids: formIds ? [...new Set(formIds)] : null,
    created_by: createdBy ?? null,
    created_at: timeOfId(id),
    expires_at: expiresAt ?? null,
  });
  if (added.length === 0) throw new ApiError('not_found', 'This workspace does not exist.');
  await insertApiKeyLookup(client, { hash: hashApiKey(key), workspace_id: workspaceId, api_key_id: id });
  await enqueueEmailEvent(client, workspaceId, { kind: 'key_created', keyId: id });
  return { id, key };
}

/** Returns the API keys of a workspace, newest first, including revoked and expired ones; or one of them. */
export async function listKeys(
  database: Database,
  workspaceId: string,
  id: string | null = null,
): Promise<ApiKey[]> {
  const at = now();
  const since = new Date(at.getTime() - (requestCountDays - 1) * 24 * hourMs).toISOString().slice(0, 10);
  return selectApiKeys(database, { workspace_id: workspaceId, id, now: at, since });
}

/**
 * Revokes a key. This takes effect in this process before the function returns, in others when they are
 * notified (keyChangeChannel), and always within a second. Revoking a revoked key changes nothing.
 * @throws ApiError not_found if the workspace has no key with this id; precondition_failed.
 */
export async function revokeKey(
  database: Database,
  { workspaceId, keyId, unchanged = null }: { workspaceId: string; keyId: string; unchanged?: IfMatchTimes },
): Promise<{ id: string; revokedAt: Date }> {
  const key = { workspace_id: workspaceId, id: keyId };
  const [revoked] = await transaction(database, async (client) => {
    const rows = await revokeApiKey(client, { ...key, unchanged, now: now() });
    if (rows.length > 0) await notifyKeyChange(client, {});
    return rows;
  });
  if (!revoked) throw await whyNot(database, workspaceId, keyId, unchanged);
  clearKeyCache();
  return { id: keyId, revokedAt: revoked.revoked_at };
}

/** Changes to a key: missing properties keep their value, null removes a limit. */
type KeyChange = {
  name?: string | undefined;
  permissions?: readonly string[] | null | undefined;
  formIds?: readonly string[] | null | undefined;
  expiresAt?: Date | null | undefined;
  /** The version that the change is based on (kit/conditional.ts). */
  unchanged?: IfMatchTimes;
};

/**
 * Changes a key without replacing its secret. As with revokeKey, the change applies in this process before
 * the function returns.
 * @throws ApiError validation_error with all problems; not_found for a missing or revoked key;
 * precondition_failed.
 */
export async function updateKeySettings(
  database: Database,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
  { name, permissions, formIds, expiresAt, unchanged = null }: KeyChange,
): Promise<void> {
  throwProblems([
    ...(name === undefined ? [] : nameProblems('name', name)),
    ...permissionProblems(permissions ?? undefined),
    ...(await formProblems(database, workspaceId, formIds ?? undefined)),
  ]);
  const changed = await transaction(database, async (client) => {
    const rows = await updateApiKey(client, {
      workspace_id: workspaceId,
      id: keyId,
      named: Object.entries({ permissions, form_ids: formIds, expires_at: expiresAt }).flatMap(
        ([column, value]) => (value === undefined ? [] : [column]),
      ),
      name: name ?? null,
      permissions: permissionsOf(permissions ?? undefined),
      form_ids: formIds ? [...new Set(formIds)] : null,
      expires_at: expiresAt ?? null,
      unchanged,
      now: now(),
    });
    if (rows.length > 0) await notifyKeyChange(client, {});
    return rows;
  });
  if (changed.length === 0) throw await whyNot(database, workspaceId, keyId, unchanged);
  clearKeyCache();
}

/**
 * Replaces the secret of a key; the new one is only shown here. The previous one works for `graceHours` more
 * (0: it ends immediately), so that programs can be switched one by one. A second rotation does not extend
 * that time. The key then belongs to the person who rotated it.
 * @throws ApiError not_found for a missing or revoked key.
 */
export async function rotateKey(
  database: Database,
  {
    workspaceId,
    keyId,
    graceHours,
    rotatedBy,
  }: { workspaceId: string; keyId: string; graceHours: number; rotatedBy?: string | undefined },
): Promise<{ id: string; key: string; formerUntil: Date }> {
  const key = makeApiKey(randomBytes(apiKeyBytes));
  const at = now();
  const formerUntil = new Date(at.getTime() + graceHours * hourMs);
  await transaction(database, async (client) => {
    const rotated = await rotateApiKey(client, {
      workspace_id: workspaceId,
      id: keyId,
      hash: hashApiKey(key),
      prefix: prefixOfApiKey(key),
      now: at,
      former_until: formerUntil,
      rotated_by: rotatedBy ?? null,
    });
    if (rotated.length === 0) throw new ApiError('not_found', 'This API key does not exist.');
    await notifyKeyChange(client, {});
    const news = { kind: 'key_rotated', keyId, formerUntil: formerUntil.toISOString() } as const;
    await enqueueEmailEvent(client, workspaceId, news);
  });
  clearKeyCache();
  return { id: keyId, key, formerUntil };
}

/** Returns why a key was not changed: it is missing, revoked, or changed in the meantime. */
async function whyNot(
  database: Database,
  workspaceId: string,
  keyId: string,
  unchanged: IfMatchTimes,
): Promise<ApiError> {
  const [key] = unchanged ? await listKeys(database, workspaceId, keyId) : [];
  return key && !key.revoked_at
    ? new ApiError('precondition_failed')
    : new ApiError('not_found', 'This API key does not exist.');
}

const permissionsOf = (names: readonly string[] | undefined): Permission[] | null =>
  names ? [...new Set(names.filter(isPermission))] : null;

async function formProblems(
  db: Queryable,
  workspaceId: string,
  formIds: readonly string[] | undefined,
): Promise<ErrorItem[]> {
  if (formIds === undefined) return [];
  if (formIds.length === 0)
    return [{ field: 'form_ids', message: 'Choose at least one form.', code: 'too_few' }];
  const foreign = await findForeignForms(db, { workspace_id: workspaceId, form_ids: [...formIds] });
  return foreign.map(({ id }) => ({
    field: 'form_ids',
    code: 'invalid_reference',
    message: `This workspace has no form ${id}.`,
  }));
}

function permissionProblems(permissions: readonly string[] | undefined): ErrorItem[] {
  if (permissions === undefined) return [];
  const known = `Known permissions: ${permissionNames.join(', ')}.`;
  if (permissions.length === 0)
    return [{ field: 'permissions', message: `Choose at least one permission. ${known}`, code: 'too_few' }];
  return permissions
    .filter((name) => !isPermission(name))
    .map((name) => ({
      field: 'permissions',
      code: 'invalid_choice',
      message: `"${name}" is not a permission. ${known}`,
    }));
}
