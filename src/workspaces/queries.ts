import {
  type Column,
  boolean,
  bytes,
  integer,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';
import type { Permission } from './permissions.ts';
import type { Plan } from './plans.ts';
import type { Role } from './roles.ts';

const permissionList: Column<Permission[]> = { pg: texts.pg };

// Keys -----------------------------------------------------------------------------------------------------

/** Who a key belongs to, and all that a request needs to know about it. A revoked key is not found. */
export const findKeyByHash = statement(
  'workspaces.find_key_by_hash',
  { hash: bytes },
  {
    workspace_id: uuid,
    id: uuid,
    permissions: nullable(permissionList),
    expires_at: nullable(timestamp),
    last_used_at: nullable(timestamp),
    plan: word<Plan>(),
    rate_limit: nullable(integer),
    burst: nullable(integer),
  },
  `select api_keys.workspace_id, api_keys.id, api_keys.permissions, api_keys.expires_at, api_keys.last_used_at,
          workspaces.plan, workspaces.rate_limit, workspaces.burst
     from api_key_lookup
     join api_keys on api_keys.workspace_id = api_key_lookup.workspace_id and api_keys.id = api_key_lookup.api_key_id
     join workspaces on workspaces.id = api_keys.workspace_id
    where api_key_lookup.hash = $hash and api_keys.revoked_at is null`,
);

/** Adds nothing, and returns nothing, when the workspace does not exist. */
export const insertApiKey = statement(
  'workspaces.insert_api_key',
  {
    workspace_id: uuid,
    id: uuid,
    name: text,
    prefix: text,
    permissions: nullable(permissionList),
    created_at: timestamp,
    expires_at: nullable(timestamp),
  },
  { id: uuid },
  `insert into api_keys (workspace_id, id, name, prefix, permissions, created_at, expires_at)
   select id, $id, $name, $prefix, $permissions, $created_at, $expires_at
     from workspaces
    where id = $workspace_id
   returning id`,
);

export const insertApiKeyLookup = statement(
  'workspaces.insert_api_key_lookup',
  { hash: bytes, workspace_id: uuid, api_key_id: uuid },
  {},
  `insert into api_key_lookup (hash, workspace_id, api_key_id) values ($hash, $workspace_id, $api_key_id)`,
);

/** Newest first. */
export const selectApiKeys = statement(
  'workspaces.select_api_keys',
  { workspace_id: uuid },
  {
    id: uuid,
    name: text,
    prefix: text,
    permissions: nullable(permissionList),
    created_at: timestamp,
    expires_at: nullable(timestamp),
    revoked_at: nullable(timestamp),
    last_used_at: nullable(timestamp),
  },
  `select id, name, prefix, permissions, created_at, expires_at, revoked_at, last_used_at
     from api_keys
    where workspace_id = $workspace_id
    order by id desc`,
);

/** Keeps the time of the first revocation. Tells every process, once this is committed, to forget what it knows. */
export const revokeApiKey = statement(
  'workspaces.revoke_api_key',
  { workspace_id: uuid, id: uuid, now: timestamp, channel: text },
  { revoked_at: timestamp },
  `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, $now)
      where workspace_id = $workspace_id and id = $id
     returning revoked_at
   )
   select revoked.revoked_at from revoked, pg_notify($channel, '')`,
);

/** The condition repeats the caller's, because several processes may use one key in the same moment. */
export const touchApiKey = statement(
  'workspaces.touch_api_key',
  { workspace_id: uuid, id: uuid, now: timestamp, unless_since: timestamp },
  {},
  `update api_keys set last_used_at = $now
    where workspace_id = $workspace_id and id = $id and (last_used_at is null or last_used_at < $unless_since)`,
);

// Workspaces -----------------------------------------------------------------------------------------------

export const insertWorkspace = statement(
  'workspaces.insert_workspace',
  {
    workspace_id: uuid,
    name: text,
    plan: word<Plan>(),
    rate_limit: nullable(integer),
    burst: nullable(integer),
    created_at: timestamp,
  },
  {},
  `insert into workspaces (id, name, plan, rate_limit, burst, created_at)
   values ($workspace_id, $name, $plan, $rate_limit, $burst, $created_at)`,
);

/** Newest first. */
export const selectWorkspaces = statement(
  'workspaces.select_workspaces',
  {},
  {
    id: uuid,
    name: text,
    plan: word<Plan>(),
    rate_limit: nullable(integer),
    burst: nullable(integer),
    created_at: timestamp,
  },
  `/* operator: across workspaces */
   select id, name, plan, rate_limit, burst, created_at from workspaces order by id desc`,
);

export const updatePlan = statement(
  'workspaces.update_plan',
  { workspace_id: uuid, plan: word<Plan>(), rate_limit: nullable(integer), burst: nullable(integer) },
  { name: text },
  `update workspaces set plan = $plan, rate_limit = $rate_limit, burst = $burst
    where id = $workspace_id
   returning name`,
);

// People ---------------------------------------------------------------------------------------------------

/** A person and the password to sign in with, or nothing when the address is taken. */
export const insertUser = statement(
  'workspaces.insert_user',
  { id: text, account_id: text, name: text, email: text, password: text, now: timestamp },
  { id: text },
  `with person as (
     insert into users (id, name, email, email_verified, created_at, updated_at)
     values ($id, $name, $email, false, $now, $now)
     on conflict (email) do nothing
     returning id
   )
   insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
   select $account_id, id, id, 'credential', $password, $now, $now from person
   returning user_id as id`,
);

/** Adds nothing, and returns nothing, when the workspace does not exist or the person is a member already. */
export const insertMember = statement(
  'workspaces.insert_member',
  { workspace_id: uuid, user_id: text, role: word<Role>(), now: timestamp },
  { user_id: text },
  `insert into members (workspace_id, user_id, role, created_at)
   select id, $user_id, $role, $now from workspaces where id = $workspace_id
   on conflict (workspace_id, user_id) do nothing
   returning user_id`,
);

// Set-up ---------------------------------------------------------------------------------------------------

/** Puts the hash of this start's token in place, unless there are accounts. */
export const offerSetup = statement(
  'workspaces.offer_setup',
  { token_hash: bytes },
  { offered: boolean },
  `insert into setup (token_hash)
   select $token_hash where not exists (select from users)
   on conflict (only_row) do update set token_hash = excluded.token_hash
   returning true as offered`,
);

/**
 * Uses the token up. Of two at once the second waits for the first's transaction, and then finds no row; the
 * look at users also closes a token that a starting process offered while the first account was being made.
 */
export const claimSetup = statement(
  'workspaces.claim_setup',
  { token_hash: bytes },
  { claimed: boolean },
  `delete from setup where token_hash = $token_hash and not exists (select from users) returning true as claimed`,
);
