import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Person, SessionCaller } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import type { Accounts } from '../accounts/users.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { findMembership } from '../members.ts';
import type { RequestCounter } from '../request-counter.ts';
import {
  awaitsTwoFactor,
  isSessionOver,
  isTemporaryPasswordExpired,
  temporaryPasswordExpiry,
} from './sign-in.ts';

/** What the operations of a session need. */
export type SessionServices = {
  accounts: Accounts;
  config: Config;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  auditLog: Pick<AuditLog, 'noteLater'>;
  wakeQueue: () => void;
};

/**
 * Returns the person whose session comes with a request. If the session was extended, its cookies are added
 * to the response.
 * @param needed which steps of the sign-in must be complete.
 * @throws ApiError unauthorized; forbidden before the second factor, while the account is being deleted, and
 * with a temporary password.
 */
export async function requirePerson(
  accounts: Accounts,
  request: FastifyRequest,
  reply: FastifyReply,
  needed: Exclude<SessionCaller, 'visitor'> = 'person',
): Promise<Person> {
  const { person, cookies } = await findSignedInPerson(
    accounts,
    accounts.readCookies(request.headers.cookie),
  );
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
  if (!person) throw new ApiError('unauthorized', 'Sign in first.');
  if (needed === 'halfway') return person;
  if (person.awaitsSecondStep) throw new ApiError('forbidden', 'Complete two-factor sign-in first.');
  if (needed === 'leaving') return person;
  if (person.endsAt) throw new ApiError('forbidden', 'This account is being deleted. Restore it first.');
  if (person.mustChangePassword && needed !== 'newcomer')
    throw new ApiError('forbidden', 'Choose your own password first.');
  return person;
}

type Found = { person?: Person; cookies: string[] };

/** Finds the person who is signed in by these cookies. Returns cookies to set if the session was extended or has ended. */
export async function findSignedInPerson(accounts: Accounts, cookie: string): Promise<Found> {
  // The library is loaded only for a request with a cookie.
  if (cookie === '') return { cookies: [] };
  const headers = new Headers({ Cookie: cookie });
  const { auth, isRefusal } = await accounts.library();
  try {
    const found = await auth.api.getSession({ headers, returnHeaders: true });
    if (!found.response) return { cookies: found.headers.getSetCookie() };
    const { user, session } = found.response;
    if (isSessionOver({ session, user }) || isTemporaryPasswordExpired(user)) {
      const ended = await auth.api.signOut({ headers, returnHeaders: true });
      return { cookies: ended.headers.getSetCookie() };
    }
    const { id, email, name } = user;
    return {
      person: {
        id,
        email,
        name,
        endsAt: user.endsAt ?? null,
        mustChangePassword: temporaryPasswordExpiry(user) !== undefined,
        awaitsSecondStep: awaitsTwoFactor({ session, user }),
        secondFactorAt: session.secondFactorAt ?? null,
        sessionId: session.id,
        signedInAt: session.createdAt,
      },
      cookies: found.headers.getSetCookie(),
    };
  } catch (cause) {
    // The session ended while it was being extended.
    if (isRefusal(cause)) return { cookies: [] };
    // The library hides why it could not read the session. A 401 would make the browser forget that it is
    // signed in.
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
  }
}

/**
 * Returns the role of a person in a workspace. It is read for each request, so a change applies from the next
 * one.
 * @throws ApiError not_found if the person is not a member, as for a workspace that does not exist; forbidden
 * if it is being deleted, and as in requireTwoFactor.
 */
export async function requireMembership(
  database: Database,
  workspaceId: string,
  person: Person,
): Promise<Role> {
  const found = requireRow(await findMembership(database, { workspace_id: workspaceId, user_id: person.id }));
  if (found.ends_at)
    throw new ApiError('forbidden', 'This workspace is being deleted. An owner can restore it.');
  requireTwoFactor(found, person);
  return found.role;
}

/** Returns true if the workspace requires two-factor and the person signed in with a password alone. */
export const lacksRequiredTwoFactor = (
  workspace: { second_factor_required: boolean },
  { secondFactorAt }: Pick<Person, 'secondFactorAt'>,
): boolean => workspace.second_factor_required && secondFactorAt === null;

/** @throws ApiError forbidden if the workspace requires two-factor and the person has not used it. */
export function requireTwoFactor(workspace: { second_factor_required: boolean }, person: Person): void {
  if (lacksRequiredTwoFactor(workspace, person))
    throw new ApiError('forbidden', 'This workspace requires two-factor. Set it up in your account first.');
}
