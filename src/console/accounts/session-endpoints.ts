import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { selectWorkspacesOfUser, updateUserName } from '#workspaces/members/queries.ts';
import { nameProblems, refuseProblems } from '#workspaces/problems.ts';
import { changePassword, signIn } from '#workspaces/sign-in.ts';
import { mayCreateWorkspace } from '#workspaces/workspaces.ts';
import { type ConsoleRoute, type ConsoleUser, personEndpoint, visitorEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { readDevice, writeDevice } from './device-cookie.ts';
import { PasswordChange, PersonChange, type Session, SignIn } from './shapes.ts';

/** Signing in and out, and what people change about themselves. */
export function sessionRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const { accounts, database, config } = services;

  const describeSession = async (user: ConsoleUser): Promise<Session> => ({
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      must_change_password: user.mustChangePassword,
    },
    workspaces: await selectWorkspacesOfUser(database, { user_id: user.id }),
    may_create_workspaces: await mayCreateWorkspace(database, config.workspaceCreation, user.id),
  });

  const read = personEndpoint({
    isAlwaysOpen: true,
    run: async ({ user }) => ({ status: 200, body: await describeSession(user) }),
  });

  const begin = visitorEndpoint({
    body: SignIn,
    async run({ visitor, body }) {
      const device = readDevice(visitor.headers);
      const { cookies, device: mark } = await signIn(services, { ...visitor, device }, body);
      return { status: 204, headers: { 'Set-Cookie': [...cookies, writeDevice(config.publicUrl, mark)] } };
    },
  });

  const end = visitorEndpoint({
    async run({ visitor }) {
      const { auth } = await accounts.library();
      const { headers } = await auth.api.signOut({ headers: visitor.headers, returnHeaders: true });
      return { status: 204, headers: { 'Set-Cookie': headers.getSetCookie() } };
    },
  });

  const password = personEndpoint({
    isAlwaysOpen: true,
    body: PasswordChange,
    async run({ user, visitor, body }) {
      const passwords = { current: body.current_password, next: body.new_password };
      const cookies = await changePassword(
        services,
        { userId: user.id, headers: visitor.headers },
        passwords,
      );
      return { status: 204, headers: { 'Set-Cookie': cookies } };
    },
  });

  const rename = personEndpoint({
    body: PersonChange,
    async run({ user, body }) {
      refuseProblems(nameProblems('name', body.name));
      const changed = await updateUserName(database, { id: user.id, name: body.name.trim(), now: now() });
      if (changed.length === 0) throw new ApiError('not_found');
      return { status: 204 };
    },
  });

  return [
    ['GET', '/session', read],
    ['POST', '/session', begin],
    ['DELETE', '/session', end],
    ['PUT', '/person/password', password],
    ['PATCH', '/person', rename],
  ];
}
