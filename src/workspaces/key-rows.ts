import { nullable, type StatementColumn, statement, texts } from '#kit/statement.ts';
import type { Permission } from '#rules/permissions.ts';

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
