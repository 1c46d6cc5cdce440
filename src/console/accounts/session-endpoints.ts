import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { findInAllCells } from '#cells/across-cells.ts';
import { now, timeOfId } from '#kit/clock.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { belowId, endCut, listParameters, readCut } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { selectPersonalLines } from '#workspaces/audit/audit-lines.ts';
import { countPersonalLines } from '#workspaces/audit/endpoints.ts';
import { notePerson, originOf, personalLine } from '#workspaces/audit/note-person.ts';
import { selectWorkspacesOfUser, updateUserName } from '#workspaces/members.ts';
import { askForPasswordReset, finishPasswordReset } from '#workspaces/password-reset.ts';
import { requirePassword } from '#workspaces/second-factor/password-again.ts';
import { readSecondSteps, takeSecondStep } from '#workspaces/second-factor/second-factor.ts';
import { endOtherSessions, endSession, selectSessions } from '#workspaces/sessions.ts';
import { changePassword, countTry, signIn, signInTries } from '#workspaces/sign-in.ts';
import { nameProblems, refuseProblems } from '#workspaces/users.ts';
import { mayCreateWorkspace } from '#workspaces/workspaces.ts';
import { type ConsoleServices, findPerson, isClosed } from '../serve.ts';
import { deviceCookie } from './second-factor-endpoints.ts';
import {
  Account,
  Activity,
  NewPassword,
  PasswordAgain,
  PasswordChange,
  PasswordReset,
  PersonChange,
  SecondStep,
  Session,
  Sessions,
  SignIn,
} from './shapes.ts';

/** Signing in and out, and what people change about themselves. */
export function sessionEndpoints(services: ConsoleServices) {
  const { accounts, auditLog, database, config } = services;
  return {
    getSession: operation({
      summary: 'Read who is signed in',
      caller: 'halfway',
      reply: { status: 200, description: 'The person, and where they may go.', schema: Session },
      async run({ person }) {
        const { id, email, name, mustChangePassword, awaitsSecondStep } = person;
        const ends_at = person.endsAt?.toISOString() ?? null;
        const user = { id, email, name, must_change_password: mustChangePassword, ends_at };
        // Whoever knows the password alone learns no more than that.
        if (awaitsSecondStep) {
          const second_steps = await readSecondSteps(database, id);
          return { body: { user, second_steps, ...nothingOpen } };
        }
        if (person.endsAt) return { body: { user, second_steps: null, ...nothingOpen } };
        const rows = await findInAllCells(
          database,
          (cells) => selectWorkspacesOfUser(cells, { user_id: id }),
          {
            isPartial: true,
            order: (a, b) => a.name.toLowerCase().localeCompare(b.name.toLowerCase()),
          },
        );
        const open = rows.filter(({ ends_at }) => ends_at === null);
        return {
          body: {
            user,
            second_steps: null,
            workspaces: open.map(({ id, name, plan, role }) => ({ id, name, plan, role })),
            closed_workspaces: open.filter((row) => isClosed(row, person)).map((row) => row.id),
            ending_workspaces: rows.flatMap(({ id, name, role, ends_at }) =>
              ends_at ? [{ id, name, role, ends_at: ends_at.toISOString() }] : [],
            ),
            may_create_workspaces: await mayCreateWorkspace(database, config.workspaceCreation, id),
          },
        };
      },
    }),

    takeSecondStep: operation({
      summary: 'Take the second step of the sign-in',
      caller: 'halfway',
      audit: 'own entry',
      body: SecondStep,
      reply: { status: 204, description: 'The cookies are the session.' },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const device = deviceCookie.read(visitor.headers);
        const by = { origin: originOf(visitor), sessionId: person.sessionId };
        const line = { who: { userId: person.id }, operation: 'takeSecondStep', by } as const;
        const taken = await takeSecondStep(services, { person, visitor, device }, body.code).catch(
          (error: unknown) => {
            if (isRefusal(error, 'validation_error')) auditLog.noteLater({ ...line, status: 422 });
            throw error;
          },
        );
        await notePerson(database, line);
        return {
          headers: {
            'Set-Cookie': [...taken.cookies, ...deviceCookie.write(config.publicUrl, taken.device)],
          },
        };
      },
    }),

    signIn: operation({
      summary: 'Sign in',
      caller: 'visitor',
      audit: 'own entry',
      body: SignIn,
      reply: { status: 204, description: 'The cookies are the session.' },
      errors: ['unauthorized', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const device = deviceCookie.read(visitor.headers);
        const line = { operation: 'signIn', by: { origin: originOf(visitor) } } as const;
        const {
          userId,
          cookies,
          device: mark,
        } = await signIn(services, { ...visitor, device }, body).catch((error: unknown) => {
          // Behind the answer: whether there is such an account is nobody's business.
          if (isRefusal(error, 'unauthorized'))
            auditLog.noteLater({ ...line, who: { email: body.email }, status: 401 });
          throw error;
        });
        await notePerson(database, { ...line, who: { userId } });
        return { headers: { 'Set-Cookie': [...cookies, ...deviceCookie.write(config.publicUrl, mark)] } };
      },
    }),

    signOut: operation({
      summary: 'Sign out',
      caller: 'visitor',
      audit: 'own entry',
      reply: { status: 204, description: 'The session is over.' },
      async run({ visitor }) {
        const { auth } = await accounts.library();
        const { person } = await findPerson(accounts, visitor.headers.get('Cookie') ?? '');
        if (person) await notePerson(database, personalLine({ person, visitor }, 'signOut'));
        const { headers } = await auth.api.signOut({ headers: visitor.headers, returnHeaders: true });
        return { headers: { 'Set-Cookie': headers.getSetCookie() } };
      },
    }),

    changePassword: operation({
      summary: 'Change one’s password',
      caller: 'newcomer',
      audit: 'own entry',
      body: PasswordChange,
      reply: { status: 204, description: 'The cookies are a new session; every other one is over.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const passwords = { current: body.current_password, next: body.new_password };
        const cookies = await changePassword(
          services,
          { ...person, userId: person.id, headers: visitor.headers },
          passwords,
        );
        await notePerson(database, personalLine({ person, visitor }, 'changePassword'));
        return { headers: { 'Set-Cookie': cookies } };
      },
    }),

    renamePerson: operation({
      summary: 'Change one’s name',
      caller: 'person',
      audit: 'own entry',
      body: PersonChange,
      reply: { status: 204, description: 'It is changed.' },
      async run({ person, visitor, body }) {
        refuseProblems(nameProblems('name', body.name));
        const changed = await updateUserName(database, { id: person.id, name: body.name.trim(), now: now() });
        if (changed.length === 0) throw new ApiError('not_found');
        await notePerson(database, personalLine({ person, visitor }, 'renamePerson'));
      },
    }),
  };
}

/** Of a session that is not let in yet. */
const nothingOpen = {
  workspaces: [],
  closed_workspaces: [],
  ending_workspaces: [],
  may_create_workspaces: false,
};

const isRefusal = (error: unknown, code: ErrorCode): boolean =>
  error instanceof ApiError && error.code === code;

/** Where a person is signed in, and the ends of it. */
export function ownSessionEndpoints(services: Pick<ConsoleServices, 'database' | 'requestCounter'>) {
  const { database } = services;
  return {
    listSessions: operation({
      summary: 'List where one is signed in',
      caller: 'person',
      reply: { status: 200, description: 'The newest first.', schema: Sessions },
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
      summary: 'List what concerned one’s account',
      caller: 'person',
      query: Type.Object(listParameters, { additionalProperties: false }),
      reply: { status: 200, description: 'The newest first, of the last year.', schema: Activity },
      async run({ person, query }) {
        const cut = readCut(query, 'activity');
        const place = { below: belowId(cut), limit: cut.limit, offset: cut.offset };
        const found = await selectPersonalLines(database, { user_id: person.id, ...place });
        const total = cut.total ?? (await countPersonalLines(database, { user_id: person.id }))[0]!.count;
        const { rows, ends } = endCut(cut, found, total);
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
      summary: 'End one of one’s sessions',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordAgain,
      reply: { status: 204, description: 'It opens nothing any more.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        await requirePassword(services, person, body.password);
        requireRow(await endSession(database, { user_id: person.id, id: params.id }));
        await notePerson(database, personalLine({ person, visitor }, 'endSession'));
      },
    }),

    endOtherSessions: operation({
      summary: 'End every other session of one’s own',
      caller: 'person',
      audit: 'own entry',
      body: PasswordAgain,
      reply: { status: 204, description: 'This one is left.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        await requirePassword(services, person, body.password);
        await endOtherSessions(database, { user_id: person.id, id: person.sessionId });
        await notePerson(database, personalLine({ person, visitor }, 'endOtherSessions'));
      },
    }),
  };
}

/** Mails to one address that are asked for in a minute, whether or not anybody has it. */
const asksPerMinute = 3;

/** Choosing a new password through a mail. Nothing of it tells whether an address has an account. */
export function passwordResetEndpoints(services: ConsoleServices) {
  return {
    askForPasswordReset: operation({
      summary: 'Ask for a new password by mail',
      caller: 'visitor',
      audit: { none: 'Anyone can ask for any address. Use of the link has an entry.' },
      body: PasswordReset,
      reply: {
        status: 202,
        description: 'A mail is on its way to the account of this address, if there is one.',
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        if (!services.config.smtp) {
          const message = 'This server sends no mail. Whoever runs it can give you a temporary password.';
          throw new ApiError('conflict', message);
        }
        const asked = createHash('sha256').update(body.email.trim().toLowerCase()).digest('base64url');
        await countTry(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        await countTry(services, `password reset of ${asked}`, asksPerMinute);
        await askForPasswordReset(services.database, body.email);
        services.wakeQueue();
      },
    }),

    finishPasswordReset: operation({
      summary: 'Choose a new password by the link of a mail',
      caller: 'visitor',
      audit: 'own entry',
      body: NewPassword,
      reply: { status: 200, description: 'The address to sign in with.', schema: Account },
      errors: ['gone', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await countTry(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        const { email } = await finishPasswordReset(services.database, body);
        const by = { origin: originOf(visitor) };
        await notePerson(services.database, { who: { email }, operation: 'finishPasswordReset', by });
        services.wakeQueue();
        return { body: { email } };
      },
    }),
  };
}
