import { statement, word } from '#kit/statement.ts';
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

/**
 * Who owns a workspace: its owners, without those whose accounts are being deleted.
 * @param workspaceId where its id stands in SQL. @param besides where the id of a person does who is not asked about.
 */
export const ownersOf = (workspaceId: string, besides?: string): string =>
  `select from members o join users owner on owner.id = o.user_id and owner.ends_at is null
    where o.workspace_id = ${workspaceId} and o.role = 'owner'${besides === undefined ? '' : ` and o.user_id <> ${besides}`}`;

export const updateUserName = statement(
  'workspaces.update_user_name',
  'id:text name now',
  'id:text',
  `update users set name = $name, updated_at = $now where id = $id returning id`,
);
