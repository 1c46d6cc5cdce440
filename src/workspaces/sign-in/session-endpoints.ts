import { createHash } from 'node:crypto';
import { findInAllCells } from '#cells/across-cells.ts';
import { now, timeOfId } from '#kit/clock.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { finishPage, listParameters, readPageRequest, upperIdBound } from '#kit/pagination.ts';
import { boolean, requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { completePasswordReset, requestPasswordReset } from '../accounts/password-reset.ts';
import { endOtherSessions, endSession, selectSessions } from '../accounts/sessions.ts';
import { nameProblems, throwProblems } from '../accounts/users.ts';
import { selectAccountEvents } from '../audit/audit-entries.ts';
import { accountEventOf, ipAndAgentOf, recordAccountEvent } from '../audit/record-account-event.ts';
import { countAccountEvents } from '../audit-endpoints.ts';
import { selectWorkspacesOfUser, updateUserName } from '../members.ts';
import { mayCreateWorkspace } from '../workspaces.ts';
import { requirePassword } from './require-password.ts';
import { findSignedInPerson, lacksRequiredTwoFactor, type SessionServices } from './require-person.ts';
import { completeTwoFactor, listTwoFactorMethods } from './second-factor.ts';
import { knownBrowserCookie } from './second-factor-endpoints.ts';
import {
  AccountActivity,
  AccountEmail,
  Notifications,
  PasswordChange,
  PasswordConfirmation,
  PasswordResetCompletion,
  PasswordResetRequest,
  PersonChange,
  Session,
  Sessions,
  SignInCredentials,
  TwoFactorCode,
} from './session-shapes.ts';
import { changePassword, limitAttempts, signIn, signInTries } from './sign-in.ts';

const notificationColumns = { assignment_emails: boolean };

const findNotifications = statement('user_id', notificationColumns)`
  select assignment_emails from users where id = $user_id`;

const updateNotifications = statement(['user_id', notificationColumns], '')`
  update users set assignment_emails = $assignment_emails where id = $user_id`;

/** Operations that sign people in and out and change their accounts. */
export function sessionEndpoints(services: SessionServices) {
  const { accounts, auditLog, database, config } = services;
  return {
    getSession: operation({
      summary: 'Get the current session',
      caller: 'halfway',
      reply: {
        status: 200,
        description: 'The signed-in person, and the workspaces that they can open.',
        schema: Session,
      },
      async run({ person }) {
        const { id, email, name, mustChangePassword, awaitsSecondStep } = person;
        const ends_at = person.endsAt?.toISOString() ?? null;
        const user = { id, email, name, must_change_password: mustChangePassword, ends_at };
        // A person who has only entered the password may see nothing more.
        if (awaitsSecondStep) {
          const second_steps = await listTwoFactorMethods(database, id);
          return { body: { user, second_steps, ...nothingOpen } };
        }
        if (person.endsAt) return { body: { user, second_steps: null, ...nothingOpen } };
        const rows = await findInAllCells(
          database,
          (cells) => selectWorkspacesOfUser(cells, { user_id: id }),
          { isPartial: true, order: (a, b) => a.name.toLowerCase().localeCompare(b.name.toLowerCase()) },
        );
        const open = rows.filter(({ ends_at }) => ends_at === null);
        return {
          body: {
            user,
            second_steps: null,
            workspaces: open.map(({ id, name, plan, role }) => ({ id, name, plan, role })),
            closed_workspaces: open.filter((row) => lacksRequiredTwoFactor(row, person)).map((row) => row.id),
            ending_workspaces: rows.flatMap(({ id, name, role, ends_at }) =>
              ends_at ? [{ id, name, role, ends_at: ends_at.toISOString() }] : [],
            ),
            may_create_workspaces: await mayCreateWorkspace(database, config.workspaceCreation, id),
            max_file_bytes: config.limits.fileBytes,
          },
        };
      },
    }),

    takeSecondStep: operation({
      summary: 'Complete two-factor sign-in',
      caller: 'halfway',
      audit: 'own entry',
      body: TwoFactorCode,
      reply: { status: 204, description: 'The cookies carry the session.' },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const device = knownBrowserCookie.read(visitor.headers);
        const by = { origin: ipAndAgentOf(visitor), sessionId: person.sessionId };
        const line = { who: { userId: person.id }, operation: 'takeSecondStep', by } as const;
        const taken = await completeTwoFactor(services, { person, visitor, device }, body.code).catch(
          (error: unknown) => {
            if (isRefusal(error, 'validation_error')) auditLog.noteLater({ ...line, status: 422 });
            throw error;
          },
        );
        await recordAccountEvent(database, line);
        return {
          headers: {
            'Set-Cookie': [...taken.cookies, ...knownBrowserCookie.write(config.publicUrl, taken.device)],
          },
        };
      },
    }),

    signIn: operation({
      summary: 'Sign in',
      caller: 'visitor',
      audit: 'own entry',
      body: SignInCredentials,
      reply: { status: 204, description: 'The cookies carry the session.' },
      errors: ['unauthorized', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const device = knownBrowserCookie.read(visitor.headers);
        const line = { operation: 'signIn', by: { origin: ipAndAgentOf(visitor) } } as const;
        const {
          userId,
          cookies,
          device: mark,
        } = await signIn(services, { ...visitor, device }, body).catch((error: unknown) => {
          // Recorded after the response is sent, so that its timing does not reveal whether the account
          // exists.
          if (isRefusal(error, 'unauthorized'))
            auditLog.noteLater({ ...line, who: { email: body.email }, status: 401 });
          throw error;
        });
        await recordAccountEvent(database, { ...line, who: { userId } });
        return {
          headers: { 'Set-Cookie': [...cookies, ...knownBrowserCookie.write(config.publicUrl, mark)] },
        };
      },
    }),

    signOut: operation({
      summary: 'Sign out',
      caller: 'visitor',
      audit: 'own entry',
      reply: { status: 204, description: 'The session has ended.' },
      async run({ visitor }) {
        const { auth } = await accounts.library();
        const { person } = await findSignedInPerson(accounts, visitor.headers.get('Cookie') ?? '');
        if (person) await recordAccountEvent(database, accountEventOf({ person, visitor }, 'signOut'));
        const { headers } = await auth.api.signOut({ headers: visitor.headers, returnHeaders: true });
        return { headers: { 'Set-Cookie': headers.getSetCookie() } };
      },
    }),

    changePassword: operation({
      summary: 'Change your password',
      caller: 'newcomer',
      audit: 'own entry',
      body: PasswordChange,
      reply: { status: 204, description: 'The cookies carry a new session. All other sessions have ended.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const passwords = { current: body.current_password, next: body.new_password };
        const cookies = await changePassword(
          services,
          { ...person, userId: person.id, headers: visitor.headers },
          passwords,
        );
        await recordAccountEvent(database, accountEventOf({ person, visitor }, 'changePassword'));
        return { headers: { 'Set-Cookie': cookies } };
      },
    }),

    getNotifications: operation({
      summary: 'Get your notifications',
      caller: 'person',
      reply: { status: 200, description: 'The emails that you want.', schema: Notifications },
      async run({ person }) {
        return { body: requireRow(await findNotifications(database, { user_id: person.id })) };
      },
    }),

    changeNotifications: operation({
      summary: 'Change your notifications',
      caller: 'person',
      audit: { none: 'Only the person is concerned.' },
      body: Notifications,
      reply: { status: 204, description: 'The emails that you want are changed.' },
      async run({ person, body }) {
        await updateNotifications(database, { user_id: person.id, ...body });
      },
    }),

    renamePerson: operation({
      summary: 'Change your name',
      caller: 'person',
      audit: 'own entry',
      body: PersonChange,
      reply: { status: 204, description: 'The name is changed.' },
      async run({ person, visitor, body }) {
        throwProblems(nameProblems('name', body.name));
        const changed = await updateUserName(database, { id: person.id, name: body.name.trim(), now: now() });
        if (changed.length === 0) throw new ApiError('not_found');
        await recordAccountEvent(database, accountEventOf({ person, visitor }, 'renamePerson'));
      },
    }),
  };
}

/** The part of the response for a session that does not have access yet. */
const nothingOpen = {
  max_file_bytes: 0,
  workspaces: [],
  closed_workspaces: [],
  ending_workspaces: [],
  may_create_workspaces: false,
};

const isRefusal = (error: unknown, code: ErrorCode): boolean =>
  error instanceof ApiError && error.code === code;

/** Operations that list and end a person's sessions and list their account activity. */
export function accountSessionEndpoints(services: Pick<SessionServices, 'database' | 'requestCounter'>) {
  const { database } = services;
  return {
    listSessions: operation({
      summary: 'List your sessions',
      caller: 'person',
      reply: { status: 200, description: 'Your sessions, newest first.', schema: Sessions },
      async run({ person }) {
        const rows = await selectSessions(database, { user_id: person.id, now: now() });
        const data = rows.map((row) => ({
          id: row.id,
          browser: row.user_agent || null,
          signed_in_at: row.created_at.toISOString(),
          used_at: row.updated_at.toISOString(),
          is_halfway: row.is_halfway,
          is_this: row.id === person.sessionId,
        }));
        return { body: { data } };
      },
    }),

    listActivity: operation({
      summary: 'List your account activity',
      caller: 'person',
      query: strictObject(listParameters),
      reply: {
        status: 200,
        description: 'The activity of the last year, newest first.',
        schema: AccountActivity,
      },
      async run({ person, query }) {
        const cut = readPageRequest(query, 'activity');
        const place = { below: upperIdBound(cut), limit: cut.limit, offset: cut.offset };
        const found = await selectAccountEvents(database, { user_id: person.id, ...place });
        const total = cut.total ?? (await countAccountEvents(database, { user_id: person.id }))[0]!.count;
        const { rows, ends } = finishPage(cut, found, total);
        const data = rows.map(({ id, actor_kind, operation, status, address, agent, session_id }) => ({
          id,
          at: timeOfId(id).toISOString(),
          by_operator: actor_kind === 'operator',
          operation,
          status,
          address,
          browser: agent,
          is_this: session_id === person.sessionId,
        }));
        return { body: { data, ...ends } };
      },
    }),

    endSession: operation({
      summary: 'End a session',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordConfirmation,
      reply: { status: 204, description: 'The session has ended.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        await requirePassword(services, person, body.password);
        requireRow(await endSession(database, { user_id: person.id, id: params.id }));
        await recordAccountEvent(database, accountEventOf({ person, visitor }, 'endSession'));
      },
    }),

    endOtherSessions: operation({
      summary: 'End all other sessions',
      caller: 'person',
      audit: 'own entry',
      body: PasswordConfirmation,
      reply: { status: 204, description: 'Only the current session remains.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        await requirePassword(services, person, body.password);
        await endOtherSessions(database, { user_id: person.id, id: person.sessionId });
        await recordAccountEvent(database, accountEventOf({ person, visitor }, 'endOtherSessions'));
      },
    }),
  };
}

/**
 * Password reset emails that can be requested for one address in a minute, whether or not it has an account.
 */
const asksPerMinute = 3;

/** Password reset by email. No response reveals whether an address has an account. */
export function passwordResetEndpoints(services: SessionServices) {
  return {
    askForPasswordReset: operation({
      summary: 'Request a password reset',
      caller: 'visitor',
      audit: { none: 'Anyone can request a reset for any address. Using the link writes an audit entry.' },
      body: PasswordResetRequest,
      reply: { status: 202, description: 'A password reset email is sent if the address has an account.' },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        if (!services.config.smtp) {
          const message = 'This server sends no email. Ask its operator for a temporary password.';
          throw new ApiError('conflict', message);
        }
        const account = createHash('sha256').update(body.email.trim().toLowerCase()).digest('base64url');
        await limitAttempts(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        await limitAttempts(services, `password reset of ${account}`, asksPerMinute);
        await requestPasswordReset(services.database, body.email);
        services.wakeQueue();
      },
    }),

    finishPasswordReset: operation({
      summary: 'Reset a password',
      caller: 'visitor',
      audit: 'own entry',
      body: PasswordResetCompletion,
      reply: { status: 200, description: 'The email address to sign in with.', schema: AccountEmail },
      errors: ['gone', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await limitAttempts(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        const { email } = await completePasswordReset(services.database, body);
        const by = { origin: ipAndAgentOf(visitor) };
        await recordAccountEvent(services.database, { who: { email }, operation: 'finishPasswordReset', by });
        services.wakeQueue();
        return { body: { email } };
      },
    }),
  };
}
