import { cellOfWorkspace } from '#cells/across-cells.ts';
import { chooseCellForWorkspace } from '#cells/choose-cell.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation, type RequestSender } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import {
  cancelAccountDeletion,
  cancelWorkspaceDeletion,
  scheduleAccountDeletion,
  scheduleWorkspaceDeletion,
} from '../account-deletion.ts';
import { accountEventOf, addAuditEntry, ipAndAgentOf } from '../audit/record-account-event.ts';
import {
  joinAsSignedInPerson,
  joinWithNewAccount,
  requireOpenInvitation,
} from '../member-invitations/accept.ts';
import { addMember, findMembership, leaveWorkspace } from '../members.ts';
import { createWorkspace, mayCreateWorkspace } from '../workspaces.ts';
import { requirePassword } from './require-password.ts';
import type { SessionServices } from './require-person.ts';
import {
  AccountEmail,
  CreatedWorkspace,
  InvitationToken,
  JoinedWorkspace,
  NewInvitedPerson,
  OpenInvitation,
  PasswordConfirmation,
  ScheduledDeletion,
  WorkspaceName,
} from './session-shapes.ts';
import { limitAttempts, signInTries } from './sign-in.ts';

/** Operations that create and leave workspaces, which everyone may do for themselves. */
export function personWorkspaceEndpoints({ database, config }: Pick<SessionServices, 'database' | 'config'>) {
  return {
    createWorkspace: operation({
      summary: 'Create a workspace',
      caller: 'person',
      audit: 'own entry',
      body: WorkspaceName,
      reply: { status: 201, description: 'The workspace. You are its owner.', schema: CreatedWorkspace },
      errors: ['forbidden'],
      async run({ person, visitor, body }) {
        if (!(await mayCreateWorkspace(database, config.workspaceCreation, person.id)))
          throw new ApiError('forbidden', "You can't create workspaces on this server. Ask its operator.");
        const created = await transaction(await chooseCellForWorkspace(database), async (client) => {
          const workspace = await createWorkspace(client, {
            name: body.name.trim(),
            plan: config.defaultPlan,
          });
          await addMember(client, { workspaceId: workspace.id, userId: person.id, role: 'owner' });
          const by = { userId: person.id, sessionId: person.sessionId, origin: ipAndAgentOf(visitor) };
          await addAuditEntry(client, { workspaceId: workspace.id, operation: 'createWorkspace', by });
          return workspace;
        });
        return { body: created };
      },
    }),

    leaveWorkspace: operation({
      summary: 'Leave a workspace',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      reply: { status: 204, description: 'You are no longer a member.' },
      errors: ['conflict'],
      async run({ person, visitor, params }) {
        await leaveWorkspace(database, { workspaceId: params.id, userId: person.id });
        await addAuditEntry(database, {
          workspaceId: params.id,
          operation: 'leaveWorkspace',
          by: { userId: person.id, sessionId: person.sessionId, origin: ipAndAgentOf(visitor) },
          thingId: person.id,
        });
      },
    }),
  };
}

/** Operations that delete and restore workspaces and accounts. */
export function deletionEndpoints(services: SessionServices) {
  const { accounts, database } = services;
  /** @throws ApiError not_found if the person is not a member; forbidden if they are not an owner. */
  const requireOwner = async (workspaceId: string, userId: string): Promise<void> => {
    const found = requireRow(await findMembership(database, { workspace_id: workspaceId, user_id: userId }));
    if (found.role !== 'owner') throw new ApiError('forbidden', 'Only an owner can do this.');
  };

  return {
    deleteWorkspace: operation({
      summary: 'Delete a workspace',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordConfirmation,
      reply: {
        status: 200,
        description: 'The workspace is closed. The response says when it will be deleted.',
        schema: ScheduledDeletion,
      },
      errors: ['forbidden', 'conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        await requireOwner(params.id, person.id);
        await requirePassword(services, person, body.password);
        const by = { userId: person.id, sessionId: person.sessionId, origin: ipAndAgentOf(visitor) };
        const at = await scheduleWorkspaceDeletion(database, params.id, by);
        services.wakeQueue();
        return { body: { ends_at: at.toISOString() } };
      },
    }),

    bringBackWorkspace: operation({
      summary: 'Restore a workspace that is being deleted',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      reply: { status: 204, description: 'The workspace is available again, unchanged.' },
      errors: ['forbidden', 'conflict'],
      async run({ person, visitor, params }) {
        await requireOwner(params.id, person.id);
        const by = { userId: person.id, sessionId: person.sessionId, origin: ipAndAgentOf(visitor) };
        await cancelWorkspaceDeletion(database, params.id, by);
        services.wakeQueue();
      },
    }),

    deleteAccount: operation({
      summary: 'Delete your account',
      caller: 'person',
      audit: 'own entry',
      body: PasswordConfirmation,
      reply: {
        status: 200,
        description: 'All sessions have ended. The response says when the account will be deleted.',
        schema: ScheduledDeletion,
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        await requirePassword(services, person, body.password);
        const { by } = accountEventOf({ person, visitor }, 'deleteAccount');
        const at = await scheduleAccountDeletion(database, person.id, by);
        services.wakeQueue();
        const { auth } = await accounts.library();
        const { headers } = await auth.api.signOut({ headers: visitor.headers, returnHeaders: true });
        return { body: { ends_at: at.toISOString() }, headers: { 'Set-Cookie': headers.getSetCookie() } };
      },
    }),

    bringBackAccount: operation({
      summary: 'Restore your account before it is deleted',
      caller: 'leaving',
      audit: 'own entry',
      reply: { status: 204, description: 'The account is available again, unchanged.' },
      errors: ['conflict'],
      async run({ person, visitor }) {
        const { by } = accountEventOf({ person, visitor }, 'bringBackAccount');
        await cancelAccountDeletion(database, person.id, by);
        services.wakeQueue();
      },
    }),
  };
}

/** Operations to join a workspace. Tokens travel in request bodies, because URLs end up in logs. */
export function joinEndpoints(services: SessionServices) {
  const count = ({ address }: RequestSender): Promise<void> =>
    limitAttempts(services, `join from ${address}`, signInTries.ofAddress);
  const noteJoin = async (
    visitor: RequestSender,
    { workspaceId, ...who }: { workspaceId: string; userId: string; sessionId?: string },
  ): Promise<void> =>
    addAuditEntry(await cellOfWorkspace(services.database, workspaceId), {
      workspaceId,
      operation: 'joinWorkspace',
      by: { ...who, origin: ipAndAgentOf(visitor) },
      thingId: who.userId,
    });

  return {
    openMemberInvitation: operation({
      summary: 'Get a workspace invitation',
      caller: 'visitor',
      audit: { none: 'It changes nothing.' },
      body: InvitationToken,
      reply: { status: 200, description: 'The invitation.', schema: OpenInvitation },
      errors: ['gone', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await count(visitor);
        const { invitedBy, ...invitation } = await requireOpenInvitation(services, body.token);
        return { body: { ...invitation, invited_by: invitedBy } };
      },
    }),

    joinByPassword: operation({
      summary: 'Join a workspace with a new account',
      caller: 'visitor',
      audit: 'own entry',
      body: NewInvitedPerson,
      reply: { status: 201, description: 'The email address to sign in with.', schema: AccountEmail },
      errors: ['gone', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await count(visitor);
        const { email, ...joined } = await joinWithNewAccount(services, { ...body, name: body.name.trim() });
        await noteJoin(visitor, joined);
        return { body: { email } };
      },
    }),

    joinWorkspace: operation({
      summary: 'Join a workspace',
      caller: 'person',
      audit: 'own entry',
      body: InvitationToken,
      reply: { status: 200, description: 'You joined the workspace.', schema: JoinedWorkspace },
      errors: ['gone', 'conflict'],
      async run({ person, visitor, body }) {
        const { workspaceId } = await joinAsSignedInPerson(services, {
          token: body.token,
          userId: person.id,
        });
        await noteJoin(visitor, { workspaceId, userId: person.id, sessionId: person.sessionId });
        return { body: { workspace_id: workspaceId } };
      },
    }),
  };
}
