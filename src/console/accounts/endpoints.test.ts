import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callConsole, type ConsolePerson, signIn } from '#test/console.ts';
import { callApi, openService } from '#test/service.ts';
import { resetUserPassword } from '#workspaces/users.ts';
import type { Key, Member, Session, WorkspaceDetail } from './shapes.ts';

const service = await openService();
const { url } = service;
const nobody = <Body>(method: string, path: string, body?: unknown, cookie = '') =>
  callConsole<Body>(url, cookie, method, path, body);

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');

test('a person signs in, is known, signs out, and is unknown again: also whoever kept the cookie', async () => {
  const person = await signIn(service, { name: 'Ada' });
  const entered = await nobody('POST', '/session', { email: person.email, password: person.password });
  assert.equal(entered.status, 204);
  const cookies = entered.headers.getSetCookie();
  for (const cookie of cookies) assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Lax/);
  const cookie = cookieOf(entered.headers);
  const session = await nobody<Session>('GET', '/session', undefined, cookie);
  assert.equal(session.body.user.email, person.email);
  assert.deepEqual(session.body.workspaces, [
    { id: person.workspaceId, name: 'Test', plan: 'enterprise', role: 'owner' },
  ]);
  const left = await nobody('DELETE', '/session', {}, cookie);
  assert.equal(left.status, 204);
  assert.match(left.headers.getSetCookie().join(), /formloom\.session_token=; Max-Age=0/);
  assert.equal((await nobody('GET', '/session', undefined, cookie)).status, 401);
});

test('too many tries are a 429 with Retry-After, over HTTP too', async () => {
  const tries = await Promise.all(
    Array.from({ length: 15 }, () =>
      nobody<{ retry_after: number }>('POST', '/session', { email: 'x@example.org', password: 'wrong' }),
    ),
  );
  const refused = tries.filter(({ status }) => status === 429);
  assert.equal(refused.length, 5);
  assert.equal(refused[0]!.headers.get('retry-after'), String(refused[0]!.body.retry_after));
});

test('a person changes name and password', async () => {
  const person = await signIn(service);
  assert.equal((await person.call('PATCH', '/person', { name: ' Grace ' })).status, 204);
  assert.equal((await person.call<Session>('GET', '/session')).body.user.name, 'Grace');
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
  assert.equal((await nobody('GET', '/session', undefined, cookieOf(changed.headers))).status, 200);
});

test('whoever makes a workspace owns it, on the free plan', async () => {
  const person = await signIn(service);
  const made = await person.call<{ id: string }>('POST', '/workspaces', { name: 'Second' });
  assert.equal(made.status, 201);
  const found = await person.call<WorkspaceDetail>('GET', `/workspaces/${made.body.id}`);
  const { created_at, ...rest } = found.body;
  assert.ok(Date.parse(created_at));
  assert.deepEqual(rest, {
    id: made.body.id,
    name: 'Second',
    plan: 'free',
    requests_per_minute: 60,
    burst: 10,
    signed_webhooks: false,
    member_count: 1,
    role: 'owner',
  });
  const session = await person.call<Session>('GET', '/session');
  assert.deepEqual(
    session.body.workspaces.map(({ name }) => name),
    ['Second', 'Test'],
  );
  assert.equal((await person.call('POST', '/workspaces', { name: '' })).status, 422);
});

test('an admin renames a workspace', async () => {
  const owner = await signIn(service);
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  assert.equal(
    (await admin.call('PATCH', `/workspaces/${owner.workspaceId}`, { name: 'Renamed' })).status,
    204,
  );
  assert.equal(
    (await owner.call<WorkspaceDetail>('GET', `/workspaces/${owner.workspaceId}`)).body.name,
    'Renamed',
  );
  const long = await admin.call('PATCH', `/workspaces/${owner.workspaceId}`, { name: 'x'.repeat(101) });
  assert.deepEqual([long.status, long.body.errors[0]!.field], [422, 'name']);
});

const invite = async (
  person: ConsolePerson,
  email: string,
  workspace = person.workspaceId,
  role = 'viewer',
) =>
  person.call<{ id: string; link: string | null; error: string; message: string }>(
    'POST',
    `/workspaces/${workspace}/member-invitations`,
    { email, role },
  );
const tokenOf = ({ body }: { body: { link: string | null } }): string => body.link!.split('/').at(-1)!;
const joinNew = (token: string, password = 'a fine new password') =>
  nobody<{ email: string; error: string; message: string }>('POST', '/joins/accounts', {
    token,
    name: 'New',
    password,
  });
const enter = async (email: string, password = 'a fine new password') =>
  cookieOf((await nobody('POST', '/session', { email, password })).headers);

test('nobody becomes a member, or gets an account, by being named: there is only the link', async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const known = await signIn(service);
  const members = `/workspaces/${owner.workspaceId}/members`;
  for (const email of [known.email, 'unasked@example.org'])
    assert.equal((await owner.call('POST', members, { email, role: 'viewer' })).status, 404);
  const { rows } = await service.services.database.query(
    "select from users where email = 'unasked@example.org'",
  );
  assert.equal(rows.length, 0);

  const token = tokenOf(await invite(owner, 'new@example.org', owner.workspaceId, 'editor'));
  assert.equal((await joinNew(token)).status, 201);
  assert.equal((await joinNew(token)).status, 410);
  const list = (await owner.call<{ data: Member[] }>('GET', members)).body.data;
  assert.deepEqual(
    list.map(({ name, role }) => [name, role]),
    [
      ['Owner', 'owner'],
      ['New', 'editor'],
    ],
  );
});

test('whoever makes an account for somebody by a handed-over link does not become them in another workspace', async () => {
  const [attacker, owner] = [await signIn(service), await signIn(service)];
  const email = 'future-member@example.org';
  assert.equal((await joinNew(tokenOf(await invite(attacker, email)))).status, 201);
  const cookie = await enter(email);
  assert.equal((await nobody('GET', '/session', undefined, cookie)).status, 200);

  const token = tokenOf(await invite(owner, email));
  const session = await nobody<Session>('GET', '/session', undefined, cookie);
  assert.deepEqual(
    session.body.workspaces.map(({ id }) => id),
    [attacker.workspaceId],
    'being invited lets nobody in',
  );
  const joined = await nobody<{ error: string; message: string }>('POST', '/joins', { token }, cookie);
  assert.deepEqual([joined.status, joined.body.error], [403, 'forbidden'], 'not even with the link');
  assert.match(joined.body.message, /was never confirmed/);
  const taken = await joinNew(token, 'the password of the inviter');
  assert.equal(taken.status, 409, 'nor does a handed-over link change the password of an account');

  // What the operator hands over is for the person: whoever had the account until now has it no longer.
  const { temporaryPassword } = await resetUserPassword(service.services.database, email);
  assert.equal((await nobody('GET', '/session', undefined, cookie)).status, 401);
  const temporary = await enter(email, temporaryPassword);
  const changed = await nobody(
    'PUT',
    '/person/password',
    { current_password: temporaryPassword, new_password: 'a password of my own' },
    temporary,
  );
  const own = cookieOf(changed.headers);
  assert.equal((await nobody('POST', '/joins', { token }, own)).status, 200);
});

test('what a handed-over link opens does not tell whether its address has an account', async () => {
  const [owner, known] = [await signIn(service), await signIn(service)];
  const lookup = async (email: string) => {
    const token = tokenOf(await invite(owner, email));
    const { status, body } = await nobody<object>('POST', '/joins/lookups', { token });
    return { status, body: { ...body, email: '' } };
  };
  assert.deepEqual(await lookup(known.email), await lookup('somebody@example.org'));
});

test('an owner may make a workspace, unless the operator says otherwise; others may not', async () => {
  const owner = await signIn(service);
  for (const role of ['admin', 'editor', 'viewer'] as const) {
    const person = await signIn(service, { role, workspaceId: owner.workspaceId });
    const refused = await person.call('POST', '/workspaces', { name: 'Mine' });
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'], role);
    assert.equal((await person.call<Session>('GET', '/session')).body.may_create_workspaces, false);
  }
  assert.equal((await owner.call<Session>('GET', '/session')).body.may_create_workspaces, true);
});

test('the last owner is neither removed nor demoted, nor leaves; of two who act at once one stays', async () => {
  const first = await signIn(service);
  const members = `/workspaces/${first.workspaceId}/members`;
  const demotion = await first.call('PATCH', `${members}/${first.userId}`, { role: 'admin' });
  assert.deepEqual([demotion.status, demotion.body.error], [409, 'conflict']);
  assert.equal((await first.call('DELETE', `${members}/${first.userId}`)).status, 409);
  assert.equal((await first.call('DELETE', `/workspaces/${first.workspaceId}/membership`)).status, 409);
  assert.equal((await first.call('PATCH', `${members}/${first.userId}`, { role: 'owner' })).status, 204);

  const second = await signIn(service, { role: 'owner', workspaceId: first.workspaceId });
  const both = await Promise.all([
    first.call('DELETE', `${members}/${second.userId}`),
    second.call('DELETE', `${members}/${first.userId}`),
  ]);
  assert.equal(both.filter(({ status }) => status === 204).length, 1);
  const { rows } = await service.services.database.query(
    "select role from members where workspace_id = $1 and role = 'owner'",
    [first.workspaceId],
  );
  assert.equal(rows.length, 1);
});

test('an admin neither makes, changes nor removes an owner', async () => {
  const owner = await signIn(service);
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  const viewer = await signIn(service, { role: 'viewer', workspaceId: owner.workspaceId });
  const members = `/workspaces/${owner.workspaceId}/members`;
  const refused = [
    await invite(admin, 'boss@example.org', owner.workspaceId, 'owner'),
    await admin.call('PATCH', `${members}/${admin.userId}`, { role: 'owner' }),
    await admin.call('PATCH', `${members}/${viewer.userId}`, { role: 'owner' }),
    await admin.call('PATCH', `${members}/${owner.userId}`, { role: 'viewer' }),
    await admin.call('DELETE', `${members}/${owner.userId}`),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403, 403, 403],
  );
  assert.equal((await admin.call('PATCH', `${members}/${viewer.userId}`, { role: 'editor' })).status, 204);
  assert.equal((await admin.call('DELETE', `${members}/${viewer.userId}`)).status, 204);
  assert.equal((await admin.call('DELETE', `${members}/${viewer.userId}`)).status, 404);
});

test('the keys of who is removed, or leaves, end with them, unless whoever removes them keeps them', async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const { workspaceId } = owner;
  const members = `/workspaces/${workspaceId}/members`;
  const keys = `/workspaces/${workspaceId}/keys`;
  const join = () => signIn(service, { role: 'admin', workspaceId });
  const makeKey = async (person: ConsolePerson) =>
    (await person.call<{ id: string; key: string }>('POST', keys, { name: 'Theirs' })).body;
  const works = async (key: string) => (await callApi(url, key, 'GET', '/forms')).status === 200;
  const [removed, kept, left] = [await join(), await join(), await join()];
  const [gone, stays, leaves, own] = [
    await makeKey(removed),
    await makeKey(kept),
    await makeKey(left),
    await makeKey(owner),
  ];
  const rotated = await removed.call<{ key: string }>('POST', `${keys}/${own.id}/rotations`, {
    grace_hours: 0,
  });
  const counted = (await owner.call<{ data: Member[] }>('GET', members)).body.data;
  assert.equal(
    counted.find(({ id }) => id === removed.userId)?.key_count,
    2,
    'the one whose secret they saw, too',
  );

  assert.equal((await owner.call('DELETE', `${members}/${removed.userId}`)).status, 204);
  assert.deepEqual([await works(gone.key), await works(rotated.body.key)], [false, false]);
  assert.equal((await owner.call('DELETE', `${members}/${kept.userId}?keys=keep`)).status, 204);
  assert.equal(await works(stays.key), true);
  assert.equal((await left.call('DELETE', `/workspaces/${workspaceId}/membership`)).status, 204);
  assert.equal(await works(leaves.key), false);
});

test('everyone but the last owner may leave', async () => {
  const owner = await signIn(service);
  const viewer = await signIn(service, { role: 'viewer', workspaceId: owner.workspaceId });
  assert.equal((await viewer.call('DELETE', `/workspaces/${owner.workspaceId}/membership`)).status, 204);
  assert.deepEqual((await viewer.call<Session>('GET', '/session')).body.workspaces, []);
});

test('a key is shown once, does what it was given, and is refused at once when it is revoked', async () => {
  const owner = await signIn(service);
  const keys = `/workspaces/${owner.workspaceId}/keys`;
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const made = await owner.call<{ id: string; key: string }>('POST', keys, {
    name: 'Export',
    permissions: ['forms:read'],
    expires_at,
  });
  assert.equal(made.status, 201);
  const { id, key } = made.body;
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
  const lacking = await callApi(url, key, 'DELETE', '/forms/01890000-0000-7000-8000-000000000000');
  assert.deepEqual([lacking.status, lacking.body.error], [403, 'forbidden']);

  const list = await owner.call<{ data: Key[] }>('GET', keys);
  const [listed] = list.body.data;
  assert.deepEqual(
    [listed!.name, listed!.prefix, listed!.permissions, listed!.expires_at, listed!.revoked_at],
    ['Export', key.slice(0, 11), ['forms:read'], expires_at, null],
  );
  assert.ok(!JSON.stringify(list.body).includes(key), 'the key itself is not in the list');

  assert.equal((await owner.call('DELETE', `${keys}/${id}`)).status, 204);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 401);
  assert.ok((await owner.call<{ data: Key[] }>('GET', keys)).body.data[0]!.revoked_at);
});

const refusedKeys: [what: string, body: object, field: string][] = [
  ['no name', { name: '' }, 'name'],
  ['an empty list of permissions', { name: 'K', permissions: [] }, 'permissions'],
  ['an unknown permission', { name: 'K', permissions: ['everything'] }, 'permissions.0'],
  ['an expiry in the past', { name: 'K', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ['an expiry that is no time', { name: 'K', expires_at: 'tomorrow' }, 'expires_at'],
];

for (const [what, body, field] of refusedKeys) {
  test(`a key with ${what} is a validation_error`, async () => {
    const owner = await signIn(service);
    const answer = await owner.call('POST', `/workspaces/${owner.workspaceId}/keys`, body);
    assert.deepEqual([answer.status, answer.body.errors.map((item) => item.field)], [422, [field]]);
  });
}

test('a key of another workspace cannot be revoked', async () => {
  const [owner, other] = [await signIn(service), await signIn(service)];
  const { id, key } = (
    await owner.call<{ id: string; key: string }>('POST', `/workspaces/${owner.workspaceId}/keys`, {
      name: 'K',
    })
  ).body;
  assert.equal((await other.call('DELETE', `/workspaces/${other.workspaceId}/keys/${id}`)).status, 404);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
});
