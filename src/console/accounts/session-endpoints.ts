import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { operation } from '#kit/operation.ts';
import { selectWorkspacesOfUser, updateUserName } from '#workspaces/members/queries.ts';
import { nameProblems, refuseProblems } from '#workspaces/problems.ts';
import { changePassword, signIn } from '#workspaces/sign-in.ts';
import { mayCreateWorkspace } from '#workspaces/workspaces.ts';
import type { ConsoleServices } from '../services.ts';
import { readDevice, writeDevice } from './device-cookie.ts';
import { PasswordChange, PersonChange, Session, SignIn } from './shapes.ts';

/** Signing in and out, and what people change about themselves. */
export function sessionEndpoints(services: ConsoleServices) {
  const { accounts, database, config } = services;
  return {
    get: operation({
      summary: 'Read who is signed in',
      caller: 'newcomer',
      reply: { status: 200, description: 'The person, and where they may go.', schema: Session },
      async run({ person: { mustChangePassword, ...person } }) {
        return {
          body: {
            user: { ...person, must_change_password: mustChangePassword },
            workspaces: await selectWorkspacesOfUser(database, { user_id: person.id }),
            may_create_workspaces: await mayCreateWorkspace(database, config.workspaceCreation, person.id),
          },
        };
      },
    }),

    begin: operation({
      summary: 'Sign in',
      caller: 'visitor',
      body: SignIn,
      reply: { status: 204, description: 'The cookies are the session.' },
      errors: ['unauthorized', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const device = readDevice(visitor.headers);
        const { cookies, device: mark } = await signIn(services, { ...visitor, device }, body);
        return { headers: { 'Set-Cookie': [...cookies, writeDevice(config.publicUrl, mark)] } };
      },
    }),

    end: operation({
      summary: 'Sign out',
      caller: 'visitor',
      reply: { status: 204, description: 'The session is over.' },
      async run({ visitor }) {
        const { auth } = await accounts.library();
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
      async run({ person, visitor: { headers }, body }) {
        const passwords = { current: body.current_password, next: body.new_password };
        const cookies = await changePassword(services, { userId: person.id, headers }, passwords);
        return { headers: { 'Set-Cookie': cookies } };
      },
    }),

    rename: operation({
      summary: 'Change one’s name',
      caller: 'person',
      body: PersonChange,
      reply: { status: 204, description: 'It is changed.' },
      async run({ person, body }) {
        refuseProblems(nameProblems('name', body.name));
        const changed = await updateUserName(database, { id: person.id, name: body.name.trim(), now: now() });
        if (changed.length === 0) throw new ApiError('not_found');
      },
    }),
  };
}
