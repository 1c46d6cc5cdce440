import { newId, now, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { enqueueMail } from '#kit/outbox/enqueue-mail.ts';
import { cancelMails } from '#kit/outbox/queries.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { requireOwner } from '../members.ts';
import { findMembership, findUserByEmail, findWorkspace } from '../members/queries.ts';
import { refuseProblems } from '../problems.ts';
import type { Role } from '../roles.ts';
import { emailProblems } from '../users.ts';
import { deleteInvitation, insertInvitation, prolongInvitation, setInvitationMail } from './queries.ts';
import { invitationToken } from './token.ts';

export type InviteContext = {
  database: Database;
  vault: Vault;
  config: Pick<Config, 'publicUrl' | 'smtp'>;
  wakeQueue: () => void;
};

/** Who invites: the role decides who may be invited as what. */
export type Inviter = { id: string; name: string; role: Role };

/** `link` only where no mail server is set: then it is handed over by hand. */
export type Invited = { id: string; link: string | null };

/** For how long an invitation is open, from its last mail on. */
const openDays = 7;
const dayMs = 86_400_000;

/**
 * Asks a person by mail to join a workspace. An open invitation of the same address ends.
 * @throws ApiError validation_error; forbidden when somebody below an owner invites an owner; conflict for a member.
 */
export async function inviteMember(
  context: InviteContext,
  { workspaceId, inviter, ...asked }: { workspaceId: string; inviter: Inviter; email: string; role: Role },
): Promise<Invited> {
  requireOwner(inviter.role, asked.role);
  const email = asked.email.trim().toLowerCase();
  refuseProblems(emailProblems(email));
  const id = newId();
  const invited = await transaction(context.database, async (client) => {
    await refuseMember(client, workspaceId, email);
    const workspace = only(await findWorkspace(client, { workspace_id: workspaceId }));
    if (!workspace) throw new ApiError('not_found');
    const former = only(
      await insertInvitation(client, {
        workspace_id: workspaceId,
        id,
        email,
        role: asked.role,
        invited_by: inviter.id,
        created_at: timeOfId(id),
        expires_at: new Date(timeOfId(id).getTime() + openDays * dayMs),
      }),
    );
    await cancelMail(client, workspaceId, former?.former_mail_id);
    return send(context, client, {
      workspaceId,
      id,
      email,
      role: asked.role,
      workspace: workspace.name,
      inviter,
    });
  });
  context.wakeQueue();
  return invited;
}

/**
 * Mails an invitation again; its time begins anew.
 * @throws ApiError not_found; forbidden as inviteMember.
 */
export async function resendInvitation(
  context: InviteContext,
  { workspaceId, id, inviter }: { workspaceId: string; id: string; inviter: Inviter },
): Promise<Invited> {
  const invited = await transaction(context.database, async (client) => {
    const expiresAt = new Date(now().getTime() + openDays * dayMs);
    const key = { workspace_id: workspaceId, id };
    const found = only(await prolongInvitation(client, { ...key, expires_at: expiresAt }));
    if (!found) throw new ApiError('not_found');
    requireOwner(inviter.role, found.role);
    await cancelMail(client, workspaceId, found.mail_id);
    return send(context, client, { ...found, workspaceId, id, inviter });
  });
  context.wakeQueue();
  return invited;
}

/** Withdraws an invitation: its link ends at once. @throws ApiError not_found. */
export function revokeInvitation(
  { database }: Pick<InviteContext, 'database'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  return transaction(database, async (client) => {
    const gone = only(await deleteInvitation(client, { workspace_id: workspaceId, id }));
    if (!gone) throw new ApiError('not_found');
    await cancelMail(client, workspaceId, gone.mail_id);
  });
}

/** The mail that waits need not leave: its link has ended, or another mail carries it. */
async function cancelMail(
  client: Queryable,
  workspaceId: string,
  mailId: string | null | undefined,
): Promise<void> {
  if (mailId) await cancelMails(client, { workspace_id: workspaceId, ids: [mailId] });
}

async function refuseMember(client: Queryable, workspaceId: string, email: string): Promise<void> {
  const known = only(await findUserByEmail(client, { email }));
  if (!known) return;
  const member = await findMembership(client, { workspace_id: workspaceId, user_id: known.id });
  if (member.length > 0) throw new ApiError('conflict', 'This person is a member of the workspace already.');
}

type Sending = {
  workspaceId: string;
  id: string;
  email: string;
  role: Role;
  workspace: string;
  inviter: Inviter;
};

async function send(
  { vault, config }: InviteContext,
  client: Queryable,
  { workspaceId, id, email, role, workspace, inviter }: Sending,
): Promise<Invited> {
  const link = `${config.publicUrl}/app/join/${invitationToken(vault, { workspaceId, id })}`;
  if (!config.smtp) return { id, link };
  const mailId = await enqueueMail(
    client,
    vault,
    { workspaceId },
    {
      kind: 'member_invitation',
      to: { address: email },
      subject: `${inviter.name} invites you to ${workspace}`,
      letter: {
        heading: `Join ${workspace}`,
        blocks: [
          {
            kind: 'text',
            text: `${inviter.name} invites you to the workspace “${workspace}” in Formloom, with the role ${role}.`,
          },
          { kind: 'button', label: 'Accept the invitation', url: link },
          { kind: 'text', text: `The invitation is open for ${openDays} days.` },
        ],
        reason: `You get this mail because ${inviter.name} entered your address. If you do not know why, ignore it.`,
      },
    },
  );
  await setInvitationMail(client, { workspace_id: workspaceId, id, mail_id: mailId });
  return { id, link: null };
}
