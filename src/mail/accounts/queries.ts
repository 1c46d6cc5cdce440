import { statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';

/** Those who may see to a workspace's keys and members. */
export const selectKeepers = statement(
  'mail.select_keepers',
  'workspace_id',
  'id:text name email',
  `select u.id, u.name, u.email
     from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.role in ('owner', 'admin')
    order by u.id`,
);

export const findWorkspaceName = statement(
  'mail.find_workspace_name',
  'workspace_id',
  'name',
  `select name from workspaces where id = $workspace_id`,
);

export const findKeyForNotice = statement(
  'mail.find_key_for_notice',
  'workspace_id id',
  'workspace name created_by? created_at',
  `select w.name as workspace, k.name, u.name as created_by, k.created_at
     from api_keys k
     join workspaces w on w.id = k.workspace_id
     left join users u on u.id = k.created_by
    where k.workspace_id = $workspace_id and k.id = $id`,
);

export const findMemberForNotice = statement(
  'mail.find_member_for_notice',
  'workspace_id user_id',
  ['workspace name email', { role: word<Role>() }],
  `select w.name as workspace, u.name, u.email, m.role
     from members m
     join workspaces w on w.id = m.workspace_id
     join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.user_id = $user_id`,
);

export const findPerson = statement(
  'mail.find_person',
  'id:text',
  'email',
  `select email from users where id = $id`,
);
