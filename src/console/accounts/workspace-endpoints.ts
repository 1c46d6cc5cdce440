import { cellOfWorkspace } from '#cells/across-cells.ts';
import { cellForNew } from '#cells/choose-cell.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation, type Visitor } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { noteInWorkspace, originOf, personalLine } from '#workspaces/audit/note-person.ts';
import { beginEnd, beginEndOfAccount, bringBack, bringBackAccount } from '#workspaces/endings.ts';
import { joinAsPerson, joinByPassword, openInvitation } from '#workspaces/member-invitations/accept.ts';
import { addMember, findMembership, leaveWorkspace } from '#workspaces/members.ts';
import { requirePassword } from '#workspaces/second-factor/password-again.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import { createWorkspace, mayCreateWorkspace } from '#workspaces/workspaces.ts';
import type { ConsoleServices } from '../serve.ts';
import {
  Account,
  Ending,
  InvitationToken,
  Joined,
  MadeWorkspace,
  NewPerson,
  OpenInvitation,
  PasswordAgain,
  WorkspaceName,
} from './shapes.ts';

/** What is everyone's own matter: to make a workspace, and to leave one. */
export function ownWorkspaceEndpoints({ database, config }: Pick<ConsoleServices, 'database' | 'config'>) {
  return {
    createWorkspace: operation({
      summary: 'Make a workspace',
      caller: 'person',
      audit: 'own entry',
      body: WorkspaceName,
      reply: { status: 201, description: 'Whoever made it owns it.', schema: MadeWorkspace },
      errors: ['forbidden'],
      async run({ person, visitor, body }) {
        if (!(await mayCreateWorkspace(database, config.workspaceCreation, person.id)))
          throw new ApiError('forbidden', 'You may not make workspaces here. Ask whoever runs this server.');
        const made = await transaction(await cellForNew(database), async (client) => {
          const workspace = await createWorkspace(client, {
            name: body.name.trim(),
            plan: config.defaultPlan,
          });
          await addMember(client, { workspaceId: workspace.id, userId: person.id, role: 'owner' });
          const by = { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) };
          await noteInWorkspace(client, { workspaceId: workspace.id, operation: 'createWorkspace', by });
          return workspace;
        });
        return { body: made };
      },
    }),

    leaveWorkspace: operation({
      summary: 'Leave a workspace',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      reply: { status: 204, description: 'One is no longer a member.' },
      errors: ['conflict'],
      async run({ person, visitor, params }) {
        await leaveWorkspace(database, { workspaceId: params.id, userId: person.id });
        await noteInWorkspace(database, {
          workspaceId: params.id,
          operation: 'leaveWorkspace',
          by: { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) },
          thingId: person.id,
        });
      },
    }),
  };
}

/** Deleting a workspace, and one's account, and coming back meanwhile. */
export function endingEndpoints(services: ConsoleServices) {
  const { accounts, database } = services;
  /** @throws ApiError not_found for strangers; forbidden for who does not own it. */
  const requireOwner = async (workspaceId: string, userId: string): Promise<void> => {
    const found = requireRow(await findMembership(database, { workspace_id: workspaceId, user_id: userId }));
    if (found.role !== 'owner') throw new ApiError('forbidden', 'Only an owner may do this.');
  };

  return {
    deleteWorkspace: operation({
      summary: 'Delete a workspace',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordAgain,
      reply: { status: 200, description: 'It is closed, and when it is gone.', schema: Ending },
      errors: ['forbidden', 'conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        await requireOwner(params.id, person.id);
        await requirePassword(services, person, body.password);
        const by = { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) };
        const at = await beginEnd(database, params.id, by);
        services.wakeQueue();
        return { body: { ends_at: at.toISOString() } };
      },
    }),

    bringBackWorkspace: operation({
      summary: 'Bring a workspace back that is being deleted',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      reply: { status: 204, description: 'It is open again, as it was.' },
      errors: ['forbidden', 'conflict'],
      async run({ person, visitor, params }) {
        await requireOwner(params.id, person.id);
        const by = { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) };
        await bringBack(database, params.id, by);
        services.wakeQueue();
      },
    }),

    deleteAccount: operation({
      summary: 'Delete one’s account',
      caller: 'person',
      audit: 'own entry',
      body: PasswordAgain,
      reply: { status: 200, description: 'Every session is over, and when it is gone.', schema: Ending },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        await requirePassword(services, person, body.password);
        const { by } = personalLine({ person, visitor }, 'deleteAccount');
        const at = await beginEndOfAccount(database, person.id, by);
        services.wakeQueue();
        const { auth } = await accounts.library();
        const { headers } = await auth.api.signOut({ headers: visitor.headers, returnHeaders: true });
        return { body: { ends_at: at.toISOString() }, headers: { 'Set-Cookie': headers.getSetCookie() } };
      },
    }),

    bringBackAccount: operation({
      summary: 'Come back before one’s account is deleted',
      caller: 'leaving',
      audit: 'own entry',
      reply: { status: 204, description: 'The account is open again, as it was.' },
      errors: ['conflict'],
      async run({ person, visitor }) {
        const { by } = personalLine({ person, visitor }, 'bringBackAccount');
        await bringBackAccount(database, person.id, by);
        services.wakeQueue();
      },
    }),
  };
}

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
      audit: { none: 'It changes nothing.' },
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
      audit: 'own entry',
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
      audit: 'own entry',
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
