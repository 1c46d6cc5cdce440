import { type Static, Type } from 'typebox';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { type MailState, mailStates } from '#kit/outbox.ts';
import { named } from '#kit/pagination.ts';
import { columns, nullable, statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';
import { personBehind, requireWholeWorkspace } from '../authenticate.ts';
import { closed, emailText, maybe, role, timestamp, uuid } from '../shapes.ts';
import {
  type InviteContext,
  type Inviter,
  inviteMember,
  resendInvitation,
  revokeInvitation,
} from './invite.ts';

/** Somebody who was asked to join. */
export const MemberInvitation = named(
  'MemberInvitation',
  Type.Object({
    id: uuid,
    email: Type.String(),
    role,
    /** The name of the member who asked; null for people who are gone, and for the operator. */
    invited_by: maybe(Type.String()),
    created_at: timestamp,
    expires_at: timestamp,
    /** How the latest mail fared; null when none was written. */
    mail_state: maybe(Type.Enum([...mailStates])),
    mail_error: maybe(Type.String()),
  }),
);
export type MemberInvitation = Static<typeof MemberInvitation>;

const MemberInvitations = Type.Object({
  data: Type.Array(MemberInvitation),
  /** Otherwise an invitation is a link to hand over. */
  sends_mail: Type.Boolean(),
});
const NewInvitation = Type.Object({ email: emailText, role }, closed);
/** `link` only where no mail is sent: it is handed over by hand. */
const Invited = Type.Object({ id: uuid, link: maybe(Type.String()) });

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
const selectInvitations = statement(
  'member_invitations.select',
  'workspace_id',
  invitationColumns,
  `${invitationSelection} where i.workspace_id = $workspace_id order by i.id desc`,
);

/** Asking people to join a workspace; they join by themselves (src/console). */
export function memberInvitationEndpoints(context: InviteContext) {
  const { database, config } = context;
  const inviterOf = async (scope: Scope): Promise<Inviter> => {
    const person = await personBehind(database, scope);
    return {
      may: scope.may,
      id: person?.id ?? scope.actor.id,
      userId: person?.id ?? null,
      name: person?.name ?? 'Somebody',
    };
  };

  return {
    listMemberInvitations: operation({
      summary: 'List invitations of members',
      description:
        'Who was asked to join and has not answered, newest first. Only whoever may invite sees them.',
      permission: 'members:write',
      reply: { status: 200, description: 'All of them.', schema: MemberInvitations },
      async run({ workspaceId, formIds }) {
        requireWholeWorkspace(formIds);
        const data = wired(await selectInvitations(database, { workspace_id: workspaceId }));
        return { body: { data, sends_mail: config.smtp !== undefined } };
      },
    }),

    inviteMember: operation({
      summary: 'Invite member',
      description:
        'Asks a person by mail to join with a role, which no key can make that of an owner. An open invitation of the same address ends. Where the service sends no mail the answer has a link to hand over. 409: they are a member.',
      permission: 'members:write',
      audit: { fields: ['email', 'role'] },
      body: NewInvitation,
      example: { body: { email: 'ada@example.org', role: 'editor' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The invitation.', schema: Invited },
      async run({ body, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        const inviter = await inviterOf(scope);
        return { body: await inviteMember(context, { workspaceId: scope.workspaceId, inviter, ...body }) };
      },
    }),

    resendMemberInvitation: operation({
      summary: 'Resend invitation of a member',
      description: 'The same link, whose time begins anew.',
      permission: 'members:write',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The invitation.', schema: Invited },
      async run({ params, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        const key = { workspaceId: scope.workspaceId, id: params.id };
        return { body: await resendInvitation(context, { ...key, inviter: await inviterOf(scope) }) };
      },
    }),

    revokeMemberInvitation: operation({
      summary: 'Revoke invitation of a member',
      description: 'Its link leads nowhere from now on.',
      permission: 'members:write',
      audit: 'entry',
      params: idParameter,
      isDestructive: true,
      reply: { status: 204, description: 'The invitation is gone.' },
      async run({ workspaceId, formIds, params, may }) {
        requireWholeWorkspace(formIds);
        await revokeInvitation(context, { workspaceId, id: params.id, keeper: { may } });
      },
    }),
  };
}
