import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { originOf, personalLine } from '#workspaces/audit/note-person.ts';
import { beginEnd, beginEndOfAccount, bringBack, bringBackAccount } from '#workspaces/endings/endings.ts';
import { findMembership } from '#workspaces/members/membership.ts';
import { requirePassword } from '#workspaces/second-factor/password-again.ts';
import type { ConsoleServices } from '../services.ts';
import { Ending, PasswordAgain } from './shapes.ts';

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
