import {
  bigint,
  boolean,
  integer,
  nullable,
  statement,
  text,
  timestamp,
  timestamps,
  uuid,
  word,
} from '#kit/statement.ts';
import type { Plan } from '../plans.ts';
import type { Role } from '#rules/permissions.ts';

/** A person in a workspace, and what it asks of them; nothing for strangers and for workspaces that do not exist. */
export const findMembership = statement(
  'workspaces.find_membership',
  { workspace_id: uuid, user_id: text },
  {
    role: word<Role>(),
    updated_at: timestamp,
    second_factor_required: boolean,
    ends_at: nullable(timestamp),
  },
  `select m.role, m.updated_at, w.second_factor_required, w.ends_at
     from members m join workspaces w on w.id = m.workspace_id
    where m.workspace_id = $workspace_id and m.user_id = $user_id`,
);

/** The workspaces that a person is a member of, by name. */
export const selectWorkspacesOfUser = statement(
  'workspaces.select_workspaces_of_user',
  { user_id: text },
  {
    id: uuid,
    name: text,
    plan: word<Plan>(),
    role: word<Role>(),
    second_factor_required: boolean,
    ends_at: nullable(timestamp),
  },
  `/* lookup: across workspaces */
   select w.id, w.name, w.plan, m.role, w.second_factor_required, w.ends_at
     from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = $user_id
    order by lower(w.name), w.id`,
);

/** A workspace with what is counted in it, and the role of whoever asks, where that is a member. */
export const findWorkspace = statement(
  'workspaces.find_workspace',
  { workspace_id: uuid, user_id: nullable(text) },
  {
    id: uuid,
    name: text,
    plan: word<Plan>(),
    rate_limit: nullable(integer),
    burst: nullable(integer),
    created_at: timestamp,
    updated_at: timestamp,
    second_factor_required: boolean,
    role: nullable(word<Role>()),
    member_count: bigint,
  },
  `select w.id, w.name, w.plan, w.rate_limit, w.burst, w.created_at, w.updated_at, w.second_factor_required,
          (select m.role from members m where m.workspace_id = w.id and m.user_id = $user_id) as role,
          (select count(*) from members m where m.workspace_id = w.id) as member_count
     from workspaces w where w.id = $workspace_id`,
);

/** What is null stays. */
export const updateWorkspace = statement(
  'workspaces.update',
  {
    workspace_id: uuid,
    name: nullable(text),
    second_factor_required: nullable(boolean),
    unchanged: nullable(timestamps),
    now: timestamp,
  },
  { id: uuid },
  `update workspaces set name = coalesce($name, name),
                         second_factor_required = coalesce($second_factor_required, second_factor_required),
                         updated_at = $now
    where id = $workspace_id and ($unchanged is null or updated_at = any ($unchanged)) returning id`,
);

/** Owners first, then by name, or one alone; with the number of API keys that each made and that still work. */
export const selectMembers = statement(
  'workspaces.select_members',
  { workspace_id: uuid, user_id: nullable(text), now: timestamp },
  {
    id: text,
    name: text,
    email: text,
    role: word<Role>(),
    created_at: timestamp,
    updated_at: timestamp,
    second_factor: boolean,
    key_count: bigint,
  },
  `select u.id, u.name, u.email, m.role, m.created_at, m.updated_at, u.second_factor,
          (select count(*) from api_keys k
            where k.workspace_id = m.workspace_id and k.created_by = u.id and k.revoked_at is null
              and (k.expires_at is null or k.expires_at > $now)) as key_count
     from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and ($user_id is null or m.user_id = $user_id)
    order by array_position(array['owner', 'admin', 'editor', 'viewer'], m.role), lower(u.name), u.id`,
);

/** Makes changes of one workspace's members take turns, until the transaction ends. */
export const lockMembers = statement(
  'workspaces.lock_members',
  { workspace_id: uuid },
  { id: uuid },
  `select id from workspaces where id = $workspace_id for no key update`,
);

/**
 * Who owns a workspace: its owners, without those whose accounts are being deleted.
 * @param workspaceId where its id stands in SQL. @param besides where the id of a person does who is not asked about.
 */
export const ownersOf = (workspaceId: string, besides?: string): string =>
  `select from members o join users owner on owner.id = o.user_id and owner.ends_at is null
    where o.workspace_id = ${workspaceId} and o.role = 'owner'${besides === undefined ? '' : ` and o.user_id <> ${besides}`}`;

/** Whether somebody else owns a workspace too. */
export const hasOtherOwner = statement(
  'workspaces.has_other_owner',
  { workspace_id: uuid, user_id: text },
  { has_other: boolean },
  `select exists (${ownersOf('$workspace_id', '$user_id')}) as has_other`,
);

export const updateRole = statement(
  'workspaces.update_role',
  { workspace_id: uuid, user_id: text, role: word<Role>(), now: timestamp },
  {},
  `update members set role = $role, updated_at = $now where workspace_id = $workspace_id and user_id = $user_id`,
);

export const deleteMember = statement(
  'workspaces.delete_member',
  { workspace_id: uuid, user_id: text },
  { user_id: text },
  `delete from members where workspace_id = $workspace_id and user_id = $user_id returning user_id`,
);

/** Whether whoever has an address is a member: one question, whose time is the same whether anybody has it. */
export const findMemberByEmail = statement(
  'workspaces.find_member_by_email',
  { workspace_id: uuid, email: text },
  { id: text },
  `select u.id from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and u.email = $email`,
);

export const findOwnedWorkspace = statement(
  'workspaces.find_owned_workspace',
  { user_id: text },
  { id: uuid },
  `/* lookup: across workspaces */
   select workspace_id as id from members where user_id = $user_id and role = 'owner' limit 1`,
);

export const updateUserName = statement(
  'workspaces.update_user_name',
  { id: text, name: text, now: timestamp },
  { id: text },
  `update users set name = $name, updated_at = $now where id = $id returning id`,
);

/** The person behind a request: who is signed in, or who made the key; nobody for the operator's keys. */
export const findPersonBehind = statement(
  'workspaces.find_person_behind',
  { workspace_id: uuid, user_id: nullable(text), key_id: nullable(uuid) },
  { id: text, name: text },
  `select u.id, u.name from users u
    where u.id = coalesce(
      $user_id, (select k.created_by from api_keys k where k.workspace_id = $workspace_id and k.id = $key_id))`,
);
