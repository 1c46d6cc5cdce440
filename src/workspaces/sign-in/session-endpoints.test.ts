import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterTries, beginSession, type ConsolePerson, callConsole, signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { setTemporaryPassword } from '../accounts/users.ts';
import type { Member } from '../members.ts';
import type { Workspace } from '../shapes.ts';
import type { Session } from './session-shapes.ts';
import { signInTries } from './sign-in.ts';

const service = await openService();
const { url } = service;
const send = <Body>(method: string, path: string, body?: unknown, cookie = '') =>
  callConsole<Body>(url, cookie, method, path, body);

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');

const again = { password: 'a long test password' };

test('a person can sign in and sign out, and the old cookie is then invalid', async () => {
  const person = await signIn(service, { name: 'Ada' });
  const entered = await send('POST', '/session', { email: person.email, password: person.password });
  assert.equal(entered.status, 204);
  const cookies = entered.headers.getSetCookie();
  for (const cookie of cookies) assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Lax/);
  const cookie = cookieOf(entered.headers);
  const session = await send<Session>('GET', '/session', undefined, cookie);
  assert.equal(session.body.user.email, person.email);
  assert.deepEqual(session.body.workspaces, [
    { id: person.workspaceId, name: 'Test', plan: 'enterprise', role: 'owner' },
  ]);
  const left = await send('DELETE', '/session', {}, cookie);
  assert.equal(left.status, 204);
  assert.match(left.headers.getSetCookie().join(), /formloom\.session_token=; Max-Age=0/);
  assert.equal((await send('GET', '/session', undefined, cookie)).status, 401);
});

test('too many sign-in attempts return 429 with Retry-After over HTTP', async () => {
  await afterTries(service.services.requestCounter, 'x@example.org', signInTries.ofAccount - 1);
  const tries = await Promise.all(
    Array.from({ length: 3 }, () =>
      send<{ retry_after: number }>('POST', '/session', { email: 'x@example.org', password: 'wrong' }),
    ),
  );
  const refused = tries.filter(({ status }) => status === 429);
  assert.equal(refused.length, 2);
  assert.equal(refused[0]!.headers.get('retry-after'), String(refused[0]!.body.retry_after));
});

test('a person can change their name and password', async () => {
  const person = await signIn(service);
  const other = await signIn(service, { name: 'Other' });
  assert.equal((await person.call('PATCH', '/person', { name: ' Grace ' })).status, 204);
  assert.equal((await person.call<Session>('GET', '/session')).body.user.name, 'Grace');
  assert.equal((await other.call<Session>('GET', '/session')).body.user.name, 'Other');
  assert.equal((await person.call('PATCH', '/person', { name: ' ' })).status, 422);
  const wrong = await person.call('PUT', '/person/password', {
    current_password: 'no',
    new_password: 'another password',
  });
  assert.deepEqual([wrong.status, wrong.body.errors[0]!.field], [422, 'current_password']);
  const changed = await person.call('PUT', '/person/password', {
    current_password: person.password,
    new_password: 'another password',
  });
  assert.equal(changed.status, 204);
  assert.equal((await person.call('GET', '/session')).status, 401, 'the old session is over');
  assert.equal((await send('GET', '/session', undefined, cookieOf(changed.headers))).status, 200);
});

test('a person who creates a workspace owns it, on the default plan', async () => {
  const person = await signIn(service);
  const created = await person.call<{ id: string }>('POST', '/workspaces', { name: 'Second' });
  assert.equal(created.status, 201);
  const found = await person.api<Workspace>('GET', '/workspace', undefined, {
    'X-Workspace-ID': created.body.id,
  });
  const { created_at, updated_at, ...rest } = found.body;
  assert.ok(Date.parse(created_at) <= Date.parse(updated_at));
  assert.deepEqual(rest, {
    id: created.body.id,
    name: 'Second',
    plan: 'enterprise',
    requests_per_minute: 5000,
    burst: 500,
    signed_webhooks: true,
    member_count: 1,
    second_factor_required: false,
    role: 'owner',
  });
  const session = await person.call<Session>('GET', '/session');
  assert.deepEqual(
    session.body.workspaces.map(({ name }) => name),
    ['Second', 'Test'],
  );
  assert.equal((await person.call('POST', '/workspaces', { name: '' })).status, 422);
});

const invite = async (person: ConsolePerson, email: string, role = 'viewer') =>
  person.api<{ id: string; link: string | null; error: string; message: string }>('POST', '/members', {
    email,
    role,
  });
const tokenOf = ({ body }: { body: { link: string | null } }): string => body.link!.split('/').at(-1)!;
const joinNew = (token: string, password = 'a fine new password') =>
  send<{ email: string; error: string; message: string }>('POST', '/joins/accounts', {
    token,
    name: 'New',
    password,
  });
const enter = async (email: string, password = 'a fine new password') =>
  cookieOf((await send('POST', '/session', { email, password })).headers);

test('an invitation alone adds no member and no account; only its link does', async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const known = await signIn(service);
  for (const email of [known.email, 'unasked@example.org']) await invite(owner, email);
  const list = async () => (await owner.api<{ data: Member[] }>('GET', '/members')).body.data;
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ['Owner'],
  );
  const { rows } = await service.services.database.query(
    "select from users where email = 'unasked@example.org'",
  );
  assert.equal(rows.length, 0);

  const token = tokenOf(await invite(owner, 'new@example.org', 'editor'));
  assert.equal((await joinNew(token)).status, 201);
  assert.equal((await joinNew(token)).status, 410);
  assert.deepEqual(
    (await list()).map(({ name, role }) => [name, role]),
    [
      ['Owner', 'owner'],
      ['New', 'editor'],
    ],
  );
});

test('creating an account for another person with a copied link gives no access to another workspace', async () => {
  const [attacker, owner] = [await signIn(service), await signIn(service)];
  const email = 'future-member@example.org';
  assert.equal((await joinNew(tokenOf(await invite(attacker, email)))).status, 201);
  const cookie = await enter(email);
  assert.equal((await send('GET', '/session', undefined, cookie)).status, 200);

  const token = tokenOf(await invite(owner, email));
  const session = await send<Session>('GET', '/session', undefined, cookie);
  assert.deepEqual(
    session.body.workspaces.map(({ id }) => id),
    [attacker.workspaceId],
    'an invitation alone does not add a member',
  );
  const joined = await send<{ error: string; message: string }>('POST', '/joins', { token }, cookie);
  assert.deepEqual([joined.status, joined.body.error], [403, 'forbidden'], 'not even with the link');
  assert.match(joined.body.message, /was never confirmed/);
  const taken = await joinNew(token, 'the password of the inviter');
  assert.equal(taken.status, 409, 'nor does a handed-over link change the password of an account');

  // The temporary password is for the person: it locks out everyone who used the account before.
  const { temporaryPassword } = await setTemporaryPassword(service.services.database, email);
  assert.equal((await send('GET', '/session', undefined, cookie)).status, 401);
  const temporary = await enter(email, temporaryPassword);
  const changed = await send(
    'PUT',
    '/person/password',
    { current_password: temporaryPassword, new_password: 'a password of my own' },
    temporary,
  );
  const own = cookieOf(changed.headers);
  assert.equal((await send('POST', '/joins', { token }, own)).status, 200);
});

test('a copied invitation link does not reveal whether its email has an account', async () => {
  const [owner, known] = [await signIn(service), await signIn(service)];
  const lookup = async (email: string) => {
    const token = tokenOf(await invite(owner, email));
    const { status, body } = await send<object>('POST', '/joins/lookups', { token });
    return { status, body: { ...body, email: '' } };
  };
  assert.deepEqual(await lookup(known.email), await lookup('somebody@example.org'));
});

test('only owners can create workspaces by default', async () => {
  const owner = await signIn(service);
  for (const role of ['admin', 'editor', 'viewer'] as const) {
    const person = await signIn(service, { role, workspaceId: owner.workspaceId });
    const refused = await person.call('POST', '/workspaces', { name: 'Mine' });
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'], role);
    assert.equal((await person.call<Session>('GET', '/session')).body.may_create_workspaces, false);
  }
  assert.equal((await owner.call<Session>('GET', '/session')).body.may_create_workspaces, true);
});

test('any member except the last owner can leave', async () => {
  const owner = await signIn(service);
  const viewer = await signIn(service, { role: 'viewer', workspaceId: owner.workspaceId });
  assert.equal((await viewer.call('DELETE', `/memberships/${owner.workspaceId}`)).status, 204);
  assert.deepEqual((await viewer.call<Session>('GET', '/session')).body.workspaces, []);
  const { workspaceId } = await signIn(service);
  assert.equal((await owner.call('DELETE', `/memberships/${workspaceId}`)).status, 404);
  assert.equal((await owner.call('DELETE', `/memberships/${owner.workspaceId}`)).status, 409);
});

test('an owner whose account is being deleted does not count: the other owner cannot leave or step down', async () => {
  const owner = await signIn(service);
  const { workspaceId, userId } = owner;
  const other = await signIn(service, { role: 'owner', workspaceId });
  assert.equal((await other.call('DELETE', '/person', { password: other.password })).status, 200);
  assert.equal((await owner.call('DELETE', `/memberships/${workspaceId}`)).status, 409);
  assert.equal((await owner.api('PATCH', `/members/${userId}`, { role: 'admin' })).status, 409);
  assert.equal((await owner.api('DELETE', `/members/${other.userId}`)).status, 204, 'who leaves anyway may');
});

test('a person sees their sessions and can end one or all others, but never those of other people', async () => {
  const person = await signIn(service);
  type Listed = { data: { id: string; browser: string | null; is_this: boolean; is_halfway: boolean }[] };
  const list = async () => (await person.call<Listed>('GET', '/person/sessions')).body.data;
  const elsewhere = await callConsole(
    url,
    '',
    'POST',
    '/session',
    { email: person.email, password: person.password },
    { 'User-Agent': `Firefox ${'x'.repeat(500)}` },
  );
  const other = cookieOf(elsewhere.headers);
  const [newest, oldest, ...rest] = await list();
  assert.equal(rest.length, 0);
  assert.deepEqual([newest!.is_this, oldest!.is_this, newest!.is_halfway], [false, true, false]);
  assert.deepEqual([newest!.browser?.slice(0, 7), newest!.browser?.length], ['Firefox', 300]);

  const stranger = await signIn(service);
  assert.equal((await stranger.call('DELETE', `/person/sessions/${newest!.id}`, again)).status, 404);
  assert.equal((await send('GET', '/session', undefined, other)).status, 200);
  const wrong = { password: 'not the password' };
  for (const path of ['/person/sessions', `/person/sessions/${newest!.id}`])
    assert.equal((await person.call('DELETE', path, wrong)).status, 422, path);
  assert.equal((await person.call('DELETE', `/person/sessions/${newest!.id}`, again)).status, 204);
  assert.equal((await send('GET', '/session', undefined, other)).status, 401);

  const third = await beginSession(service, person.userId);
  assert.equal((await person.call('DELETE', '/person/sessions', again)).status, 204);
  assert.equal((await send('GET', '/session', undefined, third)).status, 401);
  assert.equal((await stranger.call('GET', '/session')).status, 200, 'theirs go on');
  await beginSession(service, person.userId);
  await service.services.database.query(
    'update sessions set expires_at = now() where user_id = $1 and id <> $2',
    [person.userId, oldest!.id],
  );
  assert.equal((await list()).length, 1, 'one whose time is over is not listed');
});
