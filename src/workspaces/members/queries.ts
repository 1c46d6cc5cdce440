import { nullable, statement, word } from '#kit/statement.ts';
import type { Plan } from '../plans.ts';
import type { Role } from '#rules/permissions.ts';

/** A person in a workspace, and what it asks of them; nothing for strangers and for workspaces that do not exist. */
export const findMembership = statement(
  'workspaces.find_membership',
  'workspace_id user_id',
  ['updated_at second_factor_required ends_at?', { role: word<Role>() }],
  `select m.role, m.updated_at, w.second_factor_required, w.ends_at
     from members m join workspaces w on w.id = m.workspace_id
    where m.workspace_id = $workspace_id and m.user_id = $user_id`,
);

/** The workspaces that a person is a member of, by name. */
export const selectWorkspacesOfUser = statement(
  'workspaces.select_workspaces_of_user',
  'user_id',
  ['id name second_factor_required ends_at?', { plan: word<Plan>(), role: word<Role>() }],
  `/* lookup: across workspaces */
   select w.id, w.name, w.plan, m.role, w.second_factor_required, w.ends_at
     from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = $user_id
    order by lower(w.name), w.id`,
);

/** A workspace with what is counted in it, and the role of whoever asks, where that is a member. */
export const findWorkspace = statement(
  'workspaces.find_workspace',
  'workspace_id user_id?',
  [
    'id name rate_limit? burst? created_at updated_at second_factor_required',
    'member_count:bigint',
    { plan: word<Plan>(), role: nullable(word<Role>()) },
  ],
  `select w.id, w.name, w.plan, w.rate_limit, w.burst, w.created_at, w.updated_at, w.second_factor_required,
          (select m.role from members m where m.workspace_id = w.id and m.user_id = $user_id) as role,
          (select count(*) from members m where m.workspace_id = w.id) as member_count
     from workspaces w where w.id = $workspace_id`,
);

/** What is null stays. */
export const updateWorkspace = statement(
  'workspaces.update',
  'workspace_id name? second_factor_required? unchanged? now',
  'id',
  `update workspaces set name = coalesce($name, name),
                         second_factor_required = coalesce($second_factor_required, second_factor_required),
                         updated_at = $now
    where id = $workspace_id and ($unchanged is null or updated_at = any ($unchanged)) returning id`,
);

/** Owners first, then by name, or one alone; with the number of API keys that each made and that still work. */
export const selectMembers = statement(
  'workspaces.select_members',
  'workspace_id user_id? now',
  ['id:text name email created_at updated_at second_factor key_count:bigint', { role: word<Role>() }],
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
  'workspace_id',
  'id',
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
  'workspace_id user_id',
  'has_other:boolean',
  `select exists (${ownersOf('$workspace_id', '$user_id')}) as has_other`,
);

export const updateRole = statement(
  'workspaces.update_role',
  ['workspace_id user_id now', { role: word<Role>() }],
  '',
  `update members set role = $role, updated_at = $now where workspace_id = $workspace_id and user_id = $user_id`,
);

export const deleteMember = statement(
  'workspaces.delete_member',
  'workspace_id user_id',
  'user_id',
  `delete from members where workspace_id = $workspace_id and user_id = $user_id returning user_id`,
);

/** Whether whoever has an address is a member: one question, whose time is the same whether anybody has it. */
export const findMemberByEmail = statement(
  'workspaces.find_member_by_email',
  'workspace_id email',
  'id:text',
  `select u.id from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and u.email = $email`,
);

export const findOwnedWorkspace = statement(
  'workspaces.find_owned_workspace',
  'user_id',
  'id',
  `/* lookup: across workspaces */
   select workspace_id as id from members where user_id = $user_id and role = 'owner' limit 1`,
);

export const updateUserName = statement(
  'workspaces.update_user_name',
  'id:text name now',
  'id:text',
  `update users set name = $name, updated_at = $now where id = $id returning id`,
);

/** The person behind a request: who is signed in, or who made the key; nobody for the operator's keys. */
export const findPersonBehind = statement(
  'workspaces.find_person_behind',
  'workspace_id user_id? key_id?',
  'id:text name',
  `select u.id, u.name from users u
    where u.id = coalesce(
      $user_id, (select k.created_by from api_keys k where k.workspace_id = $workspace_id and k.id = $key_id))`,
);
