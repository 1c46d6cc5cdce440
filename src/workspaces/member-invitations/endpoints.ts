import { type Static, Type } from 'typebox';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { type MailState, mailStates } from '#kit/outbox.ts';
import { namedObject } from '#kit/pagination.ts';
import { columns, nullable, statement, textEnum } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import type { Role } from '#rules/permissions.ts';
import { findResponsiblePerson, requireWorkspaceAccess } from '../authenticate.ts';
import { emailText, role } from '../shapes.ts';
import {
  type Inviter,
  type InviteServices,
  inviteMember,
  resendInvitation,
  revokeInvitation,
} from './invite.ts';

/** A pending invitation to join a workspace. */
export const MemberInvitation = namedObject('MemberInvitation', {
  id: uuidSchema,
  email: Type.String(),
  role,
  /** The name of the member who sent the invitation; null for the operator and deleted accounts. */
  invited_by: orNull(Type.String()),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  /** The status of the last email; null if there was none. */
  mail_state: orNull(Type.Enum([...mailStates])),
  mail_error: orNull(Type.String()),
});
export type MemberInvitation = Static<typeof MemberInvitation>;

const MemberInvitations = Type.Object({
  data: Type.Array(MemberInvitation),
  /** If false, invitations are links to hand over. */
  sends_mail: Type.Boolean(),
});
const NewInvitation = strictObject({ email: emailText, role });
/** `link` is only set if the server sends no email. The inviter then hands it over. */
const Invited = Type.Object({ id: uuidSchema, link: orNull(Type.String()) });

/** The columns of an invitation, with the status of its email, if any. */
const invitationColumns = columns('id email invited_by? created_at expires_at mail_error:text?', {
  role: textEnum<Role>(),
  mail_state: nullable(textEnum<MailState>()),
});

const invitationSelection = `
     select i.id, i.email, i.role, u.name as invited_by, i.created_at, i.expires_at, m.state as mail_state,
            m.error as mail_error
       from member_invitations i
       left join users u on u.id = i.invited_by
       left join mails m on m.workspace_id = i.workspace_id and m.id = i.mail_id`;

/** Lists invitations, newest first, including expired ones, which can be sent again. */
const selectInvitations = statement('workspace_id', invitationColumns)`
  ${invitationSelection} where i.workspace_id = $workspace_id order by i.id desc`;

/** Operations to invite people to a workspace; they join in src/console. */
export function memberInvitationEndpoints(context: InviteServices) {
  const { database, config } = context;
  const inviterOf = async (scope: RequestScope): Promise<Inviter> => {
    const person = await findResponsiblePerson(database, scope);
    return {
      may: scope.may,
      id: person?.id ?? scope.actor.id,
      userId: person?.id ?? null,
      name: person?.name ?? 'An administrator',
    };
  };

  return {
    listMemberInvitations: operation({
      summary: 'List member invitations',
      description:
        'Returns people who were invited and have not joined, newest first. Requires the permission to invite.',
      permission: 'members:write',
      reply: { status: 200, description: 'All pending invitations.', schema: MemberInvitations },
      async run({ workspaceId, formIds }) {
        requireWorkspaceAccess(formIds);
        const data = asWireValue(await selectInvitations(database, { workspace_id: workspaceId }));
        return { body: { data, sends_mail: config.smtp !== undefined } };
      },
    }),

    inviteMember: operation({
      summary: 'Invite member',
      description:
        "Emails a person an invitation to join with a role. API keys can't invite owners. A pending invitation to the same address is replaced. If the server sends no email, the response contains a link that you can share. 409 if they are already a member.",
      permission: 'members:write',
      audit: { fields: ['email', 'role'] },
      body: NewInvitation,
      example: { body: { email: 'ada@example.org', role: 'editor' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The invitation.', schema: Invited },
      async run({ body, ...scope }) {
        requireWorkspaceAccess(scope.formIds);
        const inviter = await inviterOf(scope);
        return { body: await inviteMember(context, { workspaceId: scope.workspaceId, inviter, ...body }) };
      },
    }),

    resendMemberInvitation: operation({
      summary: 'Resend member invitation',
      description: 'Emails the link again and extends its expiry.',
      permission: 'members:write',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The invitation.', schema: Invited },
      async run({ params, ...scope }) {
        requireWorkspaceAccess(scope.formIds);
        const key = { workspaceId: scope.workspaceId, id: params.id };
        return { body: await resendInvitation(context, { ...key, inviter: await inviterOf(scope) }) };
      },
    }),

    revokeMemberInvitation: operation({
      summary: 'Revoke member invitation',
      description: 'The invitation link stops working.',
      permission: 'members:write',
      audit: 'entry',
      params: idParameter,
      isDestructive: true,
      reply: { status: 204, description: 'The invitation is revoked.' },
      async run({ workspaceId, formIds, params, may }) {
        requireWorkspaceAccess(formIds);
        await revokeInvitation(context, { workspaceId, id: params.id, keeper: { may } });
      },
    }),
  };
}
