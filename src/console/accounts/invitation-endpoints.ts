import { Type } from 'typebox';
import { joinAsPerson, joinByPassword, openInvitation } from '#workspaces/member-invitations/accept.ts';
import { inviteMember, resendInvitation, revokeInvitation } from '#workspaces/member-invitations/invite.ts';
import { selectInvitations } from '#workspaces/member-invitations/queries.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import {
  consoleEndpoint,
  type ConsoleRoute,
  type ConsoleUser,
  personEndpoint,
  type Visitor,
  visitorEndpoint,
} from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import {
  InvitationToken,
  type Invited,
  NewInvitation,
  NewPerson,
  type OpenInvitation,
  type Role,
} from './shapes.ts';

const invitation = Type.Object({ invitation: Type.String({ format: 'uuid' }) });

/** Asking people to join a workspace, and joining. Tokens travel in bodies: addresses end up in logs. */
export function memberInvitationRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [...keeperRoutes(services), ...joinRoutes(services)];
}

const inviterOf = ({ user, role }: { user: ConsoleUser; role: Role }) => ({
  id: user.id,
  name: user.name,
  role,
});

function keeperRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const list = consoleEndpoint({
    role: 'admin',
    run: async ({ workspaceId }) => ({
      status: 200,
      body: {
        data: await selectInvitations(services.database, { workspace_id: workspaceId }),
        sends_mail: services.config.smtp !== undefined,
      },
    }),
  });

  const invite = consoleEndpoint({
    role: 'admin',
    body: NewInvitation,
    async run({ workspaceId, body, ...actor }) {
      const invited: Invited = await inviteMember(services, {
        workspaceId,
        inviter: inviterOf(actor),
        ...body,
      });
      return { status: 201, body: invited };
    },
  });

  const resend = consoleEndpoint({
    role: 'admin',
    params: invitation,
    async run({ workspaceId, params, ...actor }) {
      const key = { workspaceId, id: params.invitation };
      const invited: Invited = await resendInvitation(services, { ...key, inviter: inviterOf(actor) });
      return { status: 200, body: invited };
    },
  });

  const revoke = consoleEndpoint({
    role: 'admin',
    params: invitation,
    async run({ workspaceId, params, role: actorRole }) {
      await revokeInvitation(services, { workspaceId, id: params.invitation, actorRole });
      return { status: 204 };
    },
  });

  const path = '/workspaces/:workspace/member-invitations';
  return [
    ['GET', path, list],
    ['POST', path, invite],
    ['POST', `${path}/:invitation/mails`, resend],
    ['DELETE', `${path}/:invitation`, revoke],
  ];
}

function joinRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const count = ({ address }: Visitor): Promise<void> =>
    countTry(services, `join from ${address}`, signInTries.ofAddress);

  const open = visitorEndpoint({
    body: InvitationToken,
    async run({ visitor, body }) {
      await count(visitor);
      const { invitedBy, ...invitation } = await openInvitation(services, body.token);
      const shown: OpenInvitation = { ...invitation, invited_by: invitedBy };
      return { status: 200, body: shown };
    },
  });

  const joinByChoice = visitorEndpoint({
    body: NewPerson,
    async run({ visitor, body }) {
      await count(visitor);
      return { status: 201, body: await joinByPassword(services, { ...body, name: body.name.trim() }) };
    },
  });

  const join = personEndpoint({
    body: InvitationToken,
    async run({ user, body }) {
      const { workspaceId } = await joinAsPerson(services, { token: body.token, userId: user.id });
      return { status: 200, body: { workspace_id: workspaceId } };
    },
  });

  return [
    ['POST', '/joins/lookups', open],
    ['POST', '/joins/accounts', joinByChoice],
    ['POST', '/joins', join],
  ];
}
