import { joinAsPerson, joinByPassword, openInvitation } from '#workspaces/member-invitations/accept.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import { type ConsoleRoute, personEndpoint, type Visitor, visitorEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { InvitationToken, NewPerson, type OpenInvitation } from './shapes.ts';

/** Joining a workspace by an invitation. Tokens travel in bodies: addresses end up in logs. */
export function joinRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
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
