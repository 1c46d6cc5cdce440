import { createHash } from 'node:crypto';
import { newId, now, timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { normalizeMailAddress } from '#kit/outbox/address.ts';
import { cancelMails, enqueueMail } from '#kit/outbox.ts';
import { onlyRow, type Queryable, requireRow, statement, textEnum } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import { emailProblems, throwProblems } from '../accounts/users.ts';
import { enforceRateLimit } from '../authenticate.ts';
import { findWorkspace, type MemberManager, requireMayManageOwner } from '../members.ts';
import type { RequestCounter } from '../request-counter.ts';
import { type LinkProof, type MemberInvitationId, signMemberInvitationToken } from './accept.ts';

const hour = 3_600;

/**
 * Limits invitations by inviter, workspace and address, so that they can't flood inboxes or reveal who has an
 * account. Counts before the invitation is written.
 * @throws ApiError rate_limit_exceeded with the wait and its reason.
 */
async function countInvitation(
  counter: RequestCounter,
  { inviterId, workspaceId, email }: { inviterId: string; workspaceId: string; email: string },
): Promise<void> {
  const address = createHash('sha256').update(email).digest('base64url');
  const limits = [
    [`invitations by ${inviterId}`, 20, hour, 'You can invite up to 20 people per hour.'],
    [`invitations to ${workspaceId}`, 50, hour, 'A workspace can invite up to 50 people per hour.'],
    [`invitations of ${address}`, 5, 24 * hour, 'An email address can be invited up to five times per day.'],
  ] as const;
  for (const [key, most, seconds, why] of limits)
    await enforceRateLimit(counter, key, most, { seconds, why });
}

const longest = 40;

/**
 * Shortens and cleans a name for an email to a stranger, so that email clients do not turn it into a link or
 * a phone number. Inviters choose names freely, and these emails are sent in our name.
 */
export function sanitizeNameForEmail(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/\d{5,}/g, ' ')
    .replace(/[^\p{L}\p{M}\p{Nd}'’&()-]+/gu, ' ')
    .trim();
  return Array.from(plain).slice(0, longest).join('').trim() || '…';
}

/**
 * Finds a member by address, in one query whose timing does not depend on whether the address has an account.
 */
const findMemberByEmail = statement('workspace_id email', 'id:text')`
  select u.id from members m join users u on u.id = m.user_id
   where m.workspace_id = $workspace_id and u.email = $email`;

/** Locks the invitation for an address until the transaction ends. */
const lockInvitationOf = statement('workspace_id email', ['mail_id?', { role: textEnum<Role>() }])`
  select role, mail_id from member_invitations where workspace_id = $workspace_id and email = $email for update`;

/** Adds an invitation and replaces an open one of the address, whose link then ends. */
const insertInvitation = statement(
  ['workspace_id id email invited_by? created_at expires_at', { role: textEnum<Role>() }],
  '',
)`
  insert into member_invitations (workspace_id, id, email, role, invited_by, created_at, expires_at)
  values ($workspace_id, $id, $email, $role, $invited_by, $created_at, $expires_at)
  on conflict (workspace_id, email) do update
     set id = excluded.id, role = excluded.role, invited_by = excluded.invited_by, mail_id = null,
         created_at = excluded.created_at, expires_at = excluded.expires_at`;

/** Extends the expiry of an invitation when it is emailed again. */
const extendInvitation = statement('workspace_id id expires_at', [
  'email mail_id? workspace',
  { role: textEnum<Role>() },
])`
  update member_invitations i set expires_at = $expires_at
    from workspaces w
   where w.id = i.workspace_id and i.workspace_id = $workspace_id and i.id = $id
  returning i.email, i.role, i.mail_id, w.name as workspace`;

const setInvitationMail = statement('workspace_id id mail_id', '')`
  update member_invitations set mail_id = $mail_id where workspace_id = $workspace_id and id = $id`;

/** Deletes an invitation. @returns its role and its email, which no longer needs to be sent. */
const deleteInvitation = statement('workspace_id id', ['mail_id?', { role: textEnum<Role>() }])`
  delete from member_invitations where workspace_id = $workspace_id and id = $id returning role, mail_id`;

export type InviteServices = {
  database: Database;
  vault: Vault;
  config: Pick<Config, 'publicUrl' | 'smtp'>;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};

/**
 * The inviter: `may` decides which roles they can give. `userId` is the person behind an API key, if any.
 * Limits are counted under `id`; `name` appears in the email.
 */
export type Inviter = MemberManager & { id: string; userId: string | null; name: string };

/** `link` is only set if the server sends no email. The inviter then hands it over. */
type Invited = { id: string; link: string | null };

/** How many days an invitation stays open after its last email. */
const openDays = 7;
const dayMs = 86_400_000;

/**
 * Emails a person an invitation to join a workspace. Replaces an open invitation for the address.
 * @throws ApiError validation_error; forbidden if the new or the replaced invitation has the role owner and
 * the inviter is not an owner; conflict if they are already a member; rate_limit_exceeded.
 */
export async function inviteMember(
  context: InviteServices,
  { workspaceId, inviter, ...invitee }: { workspaceId: string; inviter: Inviter; email: string; role: Role },
): Promise<Invited> {
  requireMayManageOwner(inviter, invitee.role);
  const email = normalizeMailAddress(invitee.email);
  throwProblems(emailProblems(email));
  await countInvitation(context.requestCounter, { inviterId: inviter.id, workspaceId, email });
  const invited = await transaction(context.database, async (client) => {
    const written = await writeInvitation(client, { workspaceId, inviter, email, role: invitee.role });
    return send(context, client, { workspaceId, email, role: invitee.role, inviter, ...written });
  });
  context.wakeQueue();
  return invited;
}

/**
 * Creates an invitation on behalf of the operator and returns its link. The operator vouches that the address
 * belongs to the recipient.
 * @throws ApiError validation_error; not_found if the workspace does not exist; conflict if they are already
 * a member.
 */
export function createInvitationLink(
  { database, vault, config }: Pick<InviteServices, 'database' | 'vault' | 'config'>,
  { workspaceId, role, ...invitee }: { workspaceId: string; email: string; role: Role },
): Promise<{ id: string; link: string }> {
  const email = normalizeMailAddress(invitee.email);
  throwProblems(emailProblems(email));
  return transaction(database, async (client) => {
    const { id } = await writeInvitation(client, { workspaceId, inviter: undefined, email, role });
    return { id, link: linkOf({ vault, config }, { workspaceId, id }, 'confirmed') };
  });
}

/** Writes an invitation and replaces the previous one for the address. */
async function writeInvitation(
  client: Queryable,
  {
    workspaceId,
    inviter,
    email,
    role,
  }: { workspaceId: string; inviter: Inviter | undefined; email: string; role: Role },
): Promise<{ id: string; workspace: string }> {
  const place = { workspace_id: workspaceId, email };
  if ((await findMemberByEmail(client, place)).length > 0)
    throw new ApiError('conflict', 'This person is already a member of the workspace.');
  const workspace = onlyRow(await findWorkspace(client, { workspace_id: workspaceId, user_id: null }));
  if (!workspace) throw new ApiError('not_found', 'This workspace does not exist.');
  const former = onlyRow(await lockInvitationOf(client, place));
  if (former && inviter) requireMayManageOwner(inviter, former.role);
  const id = newId();
  await insertInvitation(client, {
    ...place,
    id,
    role,
    invited_by: inviter?.userId ?? null,
    created_at: timeOfId(id),
    expires_at: new Date(timeOfId(id).getTime() + openDays * dayMs),
  });
  await cancelMail(client, workspaceId, former?.mail_id);
  return { id, workspace: workspace.name };
}

/**
 * Emails an invitation again and extends its expiry.
 * @throws ApiError not_found; forbidden and rate_limit_exceeded as in inviteMember.
 */
export async function resendInvitation(
  context: InviteServices,
  { workspaceId, id, inviter }: { workspaceId: string; id: string; inviter: Inviter },
): Promise<Invited> {
  const invited = await transaction(context.database, async (client) => {
    const expiresAt = new Date(now().getTime() + openDays * dayMs);
    const key = { workspace_id: workspaceId, id };
    const found = requireRow(await extendInvitation(client, { ...key, expires_at: expiresAt }));
    requireMayManageOwner(inviter, found.role);
    const { email } = found;
    await countInvitation(context.requestCounter, { inviterId: inviter.id, workspaceId, email });
    await cancelMail(client, workspaceId, found.mail_id);
    return send(context, client, { ...found, workspaceId, id, inviter });
  });
  context.wakeQueue();
  return invited;
}

/**
 * Revokes an invitation; its link stops working immediately.
 * @throws ApiError not_found; forbidden as in inviteMember.
 */
export function revokeInvitation(
  { database }: Pick<InviteServices, 'database'>,
  { workspaceId, id, keeper }: { workspaceId: string; id: string; keeper: MemberManager },
): Promise<void> {
  return transaction(database, async (client) => {
    const gone = requireRow(await deleteInvitation(client, { workspace_id: workspaceId, id }));
    requireMayManageOwner(keeper, gone.role);
    await cancelMail(client, workspaceId, gone.mail_id);
  });
}

/** Cancels a queued email whose link no longer works or is sent in a new email. */
async function cancelMail(
  client: Queryable,
  workspaceId: string,
  mailId: string | null | undefined,
): Promise<void> {
  if (mailId) await cancelMails(client, { workspace_id: workspaceId, ids: [mailId] });
}

/** Returns the URL where a person joins. */
const linkOf = (
  { vault, config }: Pick<InviteServices, 'vault' | 'config'>,
  key: MemberInvitationId,
  proof: LinkProof,
): string => `${config.publicUrl}/app/join/${signMemberInvitationToken(vault, key, proof)}`;

type Sending = {
  workspaceId: string;
  id: string;
  email: string;
  role: Role;
  workspace: string;
  inviter: Inviter;
};

async function send(
  { vault, config }: InviteServices,
  client: Queryable,
  { workspaceId, id, email, role, ...sending }: Sending,
): Promise<Invited> {
  const key = { workspaceId, id };
  if (!config.smtp) return { id, link: linkOf({ vault, config }, key, 'unconfirmed') };
  const link = linkOf({ vault, config }, key, 'confirmed');
  const [inviter, workspace] = [
    sanitizeNameForEmail(sending.inviter.name),
    sanitizeNameForEmail(sending.workspace),
  ];
  const mailId = await enqueueMail(
    client,
    vault,
    { workspaceId },
    {
      kind: 'member_invitation',
      to: { address: email },
      subject: `${inviter} invited you to ${workspace}`,
      letter: {
        heading: `Join ${workspace}`,
        blocks: [
          {
            kind: 'text',
            text: `${inviter} invited you to join the workspace “${workspace}” on Formloom with the role ${role}.`,
          },
          { kind: 'button', label: 'Accept invitation', url: link },
          { kind: 'text', text: `The invitation expires in ${openDays} days.` },
        ],
        reason: `You're receiving this email because ${inviter} entered your email address. If you don't know why, ignore this email.`,
      },
    },
  );
  await setInvitationMail(client, { workspace_id: workspaceId, id, mail_id: mailId });
  return { id, link: null };
}
