import type { MailState } from '#kit/outbox/queries.ts';
import { columns, nullable, statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';

/** The invitation of an address; it stays as it is until the transaction ends. */
export const lockInvitationOf = statement(
  'member_invitations.lock_of_address',
  'workspace_id email',
  ['mail_id?', { role: word<Role>() }],
  `select role, mail_id from member_invitations where workspace_id = $workspace_id and email = $email for update`,
);

/** Replaces what was open for the same address: its link ends. */
export const insertInvitation = statement(
  'member_invitations.insert',
  ['workspace_id id email invited_by? created_at expires_at', { role: word<Role>() }],
  '',
  `insert into member_invitations (workspace_id, id, email, role, invited_by, created_at, expires_at)
   values ($workspace_id, $id, $email, $role, $invited_by, $created_at, $expires_at)
   on conflict (workspace_id, email) do update
      set id = excluded.id, role = excluded.role, invited_by = excluded.invited_by, mail_id = null,
          created_at = excluded.created_at, expires_at = excluded.expires_at`,
);

/** An invitation and the mail that carries it; the fate of that mail, where there is one. */
const invitationColumns = columns('id email invited_by? created_at expires_at mail_error:text?', {
  role: word<Role>(),
  mail_state: nullable(word<MailState>()),
});

const invitationSelection = `
     select i.id, i.email, i.role, u.name as invited_by, i.created_at, i.expires_at, m.state as mail_state,
            m.error as mail_error
       from member_invitations i
       left join users u on u.id = i.invited_by
       left join mails m on m.workspace_id = i.workspace_id and m.id = i.mail_id`;

/** Newest first; also those whose time is over, which can be sent again. */
export const selectInvitations = statement(
  'member_invitations.select',
  'workspace_id',
  invitationColumns,
  `${invitationSelection} where i.workspace_id = $workspace_id order by i.id desc`,
);

/** What an invitation says, while its time lasts. */
export const findOpenInvitation = statement(
  'member_invitations.find_open',
  'workspace_id id now',
  ['workspace email invited_by?', { role: word<Role>() }],
  `select w.name as workspace, i.email, i.role, by.name as invited_by
     from member_invitations i
     join workspaces w on w.id = i.workspace_id and w.ends_at is null
     left join users by on by.id = i.invited_by
    where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now`,
);

/** More time, for a link that is mailed again. */
export const prolongInvitation = statement(
  'member_invitations.prolong',
  'workspace_id id expires_at',
  ['email mail_id? workspace', { role: word<Role>() }],
  `update member_invitations i set expires_at = $expires_at
     from workspaces w
    where w.id = i.workspace_id and i.workspace_id = $workspace_id and i.id = $id
   returning i.email, i.role, i.mail_id, w.name as workspace`,
);

export const setInvitationMail = statement(
  'member_invitations.set_mail',
  'workspace_id id mail_id',
  '',
  `update member_invitations set mail_id = $mail_id where workspace_id = $workspace_id and id = $id`,
);

/** Withdraws an invitation. @returns what it was for, and its mail, which need not leave any more. */
export const deleteInvitation = statement(
  'member_invitations.delete',
  'workspace_id id',
  ['mail_id?', { role: word<Role>() }],
  `delete from member_invitations where workspace_id = $workspace_id and id = $id returning role, mail_id`,
);

/** Uses an invitation up: of two who accept at once, one gets the row. */
export const claimInvitation = statement(
  'member_invitations.claim',
  'workspace_id id now',
  ['email workspace', { role: word<Role>() }],
  `delete from member_invitations i using workspaces w
    where i.workspace_id = $workspace_id and i.id = $id and i.expires_at > $now and w.id = i.workspace_id and w.ends_at is null
   returning i.email, i.role, w.name as workspace`,
);

/**
 * The account with an address (in lower case, as users.ts stores it), and whether it is certain whose it is. It stays as
 * it is until the transaction ends; from a cell at a node it is only looked at.
 */
export const lockAccount = statement(
  'member_invitations.lock_account',
  'email',
  'id:text is_confirmed',
  `select id, email_verified as is_confirmed from users where email = $email for no key update`,
);
