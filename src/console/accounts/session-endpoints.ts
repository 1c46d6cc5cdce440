import { findInAllCells } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { operation } from '#kit/operation.ts';
import { notePerson, originOf, personalLine } from '#workspaces/audit/note-person.ts';
import { nameProblems, refuseProblems } from '#workspaces/problems.ts';
import { changePassword, signIn } from '#workspaces/sign-in.ts';
import { readSecondSteps, takeSecondStep } from '#workspaces/second-factor/second-factor.ts';
import { mayCreateWorkspace } from '#workspaces/workspaces.ts';
import { findPerson, isClosed } from '../access.ts';
import type { ConsoleServices } from '../services.ts';
import { deviceCookie } from './device-cookie.ts';
import { PasswordChange, PersonChange, SecondStep, Session, SignIn } from './shapes.ts';
import { selectWorkspacesOfUser } from '#workspaces/members/endpoints.ts';
import { updateUserName } from '#workspaces/members/membership.ts';

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
