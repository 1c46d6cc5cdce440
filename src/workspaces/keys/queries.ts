import { type Column, nullable, statement, text, texts, word } from '#kit/statement.ts';
import type { Permission, Role } from '#rules/permissions.ts';
import type { Plan } from '../plans.ts';

const permissionList: Column<Permission[]> = { pg: texts.pg };

/** Who a key belongs to, and all that a request needs to know about it. A revoked key is not found. */
export const findKeyByHash = statement(
  'workspaces.find_key_by_hash',
  'hash',
  [
    'workspace_id id form_ids? expires_at? rate_limit? burst?',
    {
      permissions: nullable(permissionList),
      /** Of its maker; null for the operator's keys, and where the maker is no member any more. */
      maker_role: nullable(word<Role>()),
      plan: word<Plan>(),
    },
  ],
  // A key that was rotated ends by itself: least() leaves out what is null.
  `select api_keys.workspace_id, api_keys.id, api_keys.permissions, api_keys.form_ids,
          least(api_keys.expires_at, api_key_lookup.expires_at) as expires_at, members.role as maker_role, workspaces.plan,
          workspaces.rate_limit, workspaces.burst
     from api_key_lookup
     join api_keys on api_keys.workspace_id = api_key_lookup.workspace_id and api_keys.id = api_key_lookup.api_key_id
     join workspaces on workspaces.id = api_keys.workspace_id
     left join members on members.workspace_id = api_keys.workspace_id and members.user_id = api_keys.created_by
    where api_key_lookup.hash = $hash and api_keys.revoked_at is null and workspaces.ends_at is null`,
);

/** Adds nothing, and returns nothing, when the workspace does not exist. */
export const insertApiKey = statement(
  'workspaces.insert_api_key',
  [
    'workspace_id id name prefix form_ids? created_by? created_at expires_at?',
    { permissions: nullable(permissionList) },
  ],
  'id',
  `insert into api_keys (workspace_id, id, name, prefix, permissions, form_ids, created_by, created_at, expires_at,
                         updated_at)
   select id, $id, $name, $prefix, $permissions, $form_ids, $created_by, $created_at, $expires_at, $created_at
     from workspaces
    where id = $workspace_id
   returning id`,
);

export const insertApiKeyLookup = statement(
  'workspaces.insert_api_key_lookup',
  'hash workspace_id api_key_id',
  '',
  `insert into api_key_lookup (hash, workspace_id, api_key_id) values ($hash, $workspace_id, $api_key_id)`,
);

/** Which of these are no forms of the workspace. */
export const findForeignForms = statement(
  'workspaces.find_foreign_forms',
  'workspace_id form_ids',
  'id',
  `select given.id from unnest($form_ids) as given (id)
   where not exists (
     select from forms f where f.workspace_id = $workspace_id and f.id = given.id and f.deleted_at is null)`,
);

/** Newest first, or one alone, with the role of its maker, the requests of the days since `since` and the end of a rotated key that still works. */
export const selectApiKeys = statement(
  'workspaces.select_api_keys',
  'workspace_id id? now since:text',
  [
    'id name prefix form_ids? created_by? created_at updated_at expires_at? revoked_at?',
    'last_used_at? last_used_address:text? former_until? requests:bigint',
    { permissions: nullable(permissionList), maker_role: nullable(word<Role>()) },
  ],
  `select k.id, k.name, k.prefix, k.permissions, k.form_ids, u.name as created_by, m.role as maker_role, k.created_at,
          k.updated_at, k.expires_at, k.revoked_at, k.last_used_at, k.last_used_address,
          (select max(l.expires_at) from api_key_lookup l
            where l.workspace_id = k.workspace_id and l.api_key_id = k.id and l.expires_at > $now) as former_until,
          (select coalesce(sum(d.requests), 0)::bigint from api_key_days d
            where d.workspace_id = k.workspace_id and d.api_key_id = k.id and d.day >= $since::date) as requests
     from api_keys k left join users u on u.id = k.created_by
     left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    where k.workspace_id = $workspace_id and ($id is null or k.id = $id)
    order by k.id desc`,
);

/** The channel on which a revocation is told (NOTIFY, no payload). Whoever hears it calls forgetKeys(). */
export const keyChannel = 'formloom_keys';

/** Tells every process, once the change is committed, to forget what it knows of keys: after each that makes them do less. */
export const tellOfKeys = statement(
  'workspaces.tell_of_keys',
  '',
  '',
  `select from pg_notify('${keyChannel}', '')`,
);

/** Keeps the time of the first revocation. */
export const revokeApiKey = statement(
  'workspaces.revoke_api_key',
  'workspace_id id unchanged? now',
  'revoked_at',
  `update api_keys set revoked_at = coalesce(revoked_at, $now), updated_at = $now
    where workspace_id = $workspace_id and id = $id and ($unchanged is null or updated_at = any ($unchanged))
   returning revoked_at`,
);

/** Revokes the keys whose secret a person was shown. */
export const revokeKeysOf = statement(
  'workspaces.revoke_keys_of',
  'workspace_id user_id now',
  '',
  `update api_keys set revoked_at = $now, updated_at = $now
    where workspace_id = $workspace_id and created_by = $user_id and revoked_at is null`,
);

/** Changes of a key that is not revoked what is named; a limit may become null. */
export const updateApiKey = statement(
  'workspaces.update_api_key',
  [
    'workspace_id id named:texts name? form_ids? expires_at? unchanged? now',
    { permissions: nullable(permissionList) },
  ],
  'id',
  `update api_keys
      set name = coalesce($name, name), updated_at = $now,
          permissions = case when 'permissions' = any ($named) then $permissions else permissions end,
          form_ids = case when 'form_ids' = any ($named) then $form_ids else form_ids end,
          expires_at = case when 'expires_at' = any ($named) then $expires_at else expires_at end
    where workspace_id = $workspace_id and id = $id and revoked_at is null
      and ($unchanged is null or updated_at = any ($unchanged))
   returning id`,
);

/**
 * Gives a key another secret: the former ones end at `former_until`, and those that ended before are forgotten.
 * Nothing for a key that is revoked or absent.
 */
export const rotateApiKey = statement(
  'workspaces.rotate_api_key',
  [
    'workspace_id id hash prefix now former_until',
    {
      /** Who was shown the new secret; null for the operator. */
      rotated_by: nullable(text),
    },
  ],
  'id',
  `with key as (
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
   select id from key`,
);
