import { cellOfWorkspace } from '#cells/across-cells.ts';
import { operation, type Visitor } from '#kit/operation.ts';
import { noteInWorkspace, originOf } from '#workspaces/audit/note-person.ts';
import { joinAsPerson, joinByPassword, openInvitation } from '#workspaces/member-invitations/accept.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import type { ConsoleServices } from '../services.ts';
import { Account, InvitationToken, Joined, NewPerson, OpenInvitation } from './shapes.ts';

/** Joining a workspace by an invitation. Tokens travel in bodies: addresses end up in logs. */
export function joinEndpoints(services: ConsoleServices) {
  const count = ({ address }: Visitor): Promise<void> =>
    countTry(services, `join from ${address}`, signInTries.ofAddress);
  const noteJoin = async (
    visitor: Visitor,
    { workspaceId, ...who }: { workspaceId: string; userId: string; sessionId?: string },
  ): Promise<void> =>
    noteInWorkspace(await cellOfWorkspace(services.database, workspaceId), {
      workspaceId,
      operation: 'joinWorkspace',
      by: { ...who, origin: originOf(visitor) },
      thingId: who.userId,
    });

  return {
    openMemberInvitation: operation({
      summary: 'Read an invitation to a workspace',
      caller: 'visitor',
      body: InvitationToken,
      reply: { status: 200, description: 'What its holder is asked.', schema: OpenInvitation },
      errors: ['gone', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await count(visitor);
        const { invitedBy, ...invitation } = await openInvitation(services, body.token);
        return { body: { ...invitation, invited_by: invitedBy } };
      },
    }),

    joinByPassword: operation({
      summary: 'Join by choosing a password',
      caller: 'visitor',
      body: NewPerson,
      reply: { status: 201, description: 'The address to sign in with.', schema: Account },
      errors: ['gone', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await count(visitor);
        const { email, ...joined } = await joinByPassword(services, { ...body, name: body.name.trim() });
        await noteJoin(visitor, joined);
        return { body: { email } };
      },
    }),

    joinWorkspace: operation({
      summary: 'Join as who is signed in',
      caller: 'person',
      body: InvitationToken,
      reply: { status: 200, description: 'They are a member.', schema: Joined },
      errors: ['gone', 'conflict'],
      async run({ person, visitor, body }) {
        const { workspaceId } = await joinAsPerson(services, { token: body.token, userId: person.id });
        await noteJoin(visitor, { workspaceId, userId: person.id, sessionId: person.sessionId });
        return { body: { workspace_id: workspaceId } };
      },
    }),
  };
}
