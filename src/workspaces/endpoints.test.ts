import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { callApi, shareService } from '#test/service.ts';
import { whileHeld } from '#test/while-held.ts';
import { workspaceEndpoints } from './endpoints.ts';
import { memberInvitationEndpoints } from './member-invitations/endpoints.ts';
import { leaveWorkspace, type Member, memberEndpoints } from './members.ts';
import type { Workspace } from './shapes.ts';

const service = await shareService();
const { url } = service;

test('an admin can rename a workspace', async () => {
  const owner = await signIn(service);
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  const other = await signIn(service);
  const read = await admin.api<Workspace>('GET', '/workspace');
  assert.deepEqual([read.body.name, read.body.role], ['Test', 'admin']);
  assert.equal((await admin.api('PATCH', '/workspace', { name: 'Unread' })).status, 200);
  assert.equal((await other.api<Workspace>('GET', '/workspace')).body.name, 'Test');
  const named = await admin.api<Workspace>('GET', '/workspace');
  const match = { 'If-Match': named.headers.get('etag')! };
  assert.equal((await admin.api('PATCH', '/workspace', { name: 'Renamed' }, match)).status, 200);
  assert.equal((await owner.api('PATCH', '/workspace', { name: 'Lost' }, match)).status, 412);
  assert.equal((await owner.api<Workspace>('GET', '/workspace')).body.name, 'Renamed');
  assert.equal((await other.api<Workspace>('GET', '/workspace')).body.name, 'Test');
  for (const name of ['x'.repeat(101), ' ']) {
    const refused = await admin.api('PATCH', '/workspace', { name });
    assert.deepEqual([refused.status, refused.body.errors[0]!.field], [422, 'name']);
  }
});

test('a key for some forms cannot change the workspace or its members, even without an audit read', async () => {
  const { workspaceId, userId } = await signIn(service);
  const scope = { workspaceId, formIds: [], actor: { kind: 'key', id: newId() }, may: () => true } as const;
  const workspaces = workspaceEndpoints(service.services);
  const members = memberEndpoints(service.services);
  const invitations = memberInvitationEndpoints(service.services);
  const given = { params: { id: userId }, query: {}, unchanged: null };
  const none = { ...given, params: {} };
  for (const work of [
    () => workspaces.changeWorkspace.handle(scope, { ...none, body: { name: 'Taken' } }),
    () => members.changeMember.handle(scope, { ...given, body: { role: 'viewer' } }),
    () => members.removeMember.handle(scope, { ...given, body: undefined }),
    () => invitations.revokeMemberInvitation.handle(scope, { ...given, body: undefined }),
  ])
    await assert.rejects(async () => work(), { code: 'forbidden', message: /limited to certain forms/ });
});

test('the last owner cannot be removed or demoted and cannot leave; of two simultaneous removals one fails', async () => {
  const first = await signIn(service);
  const demotion = await first.api('PATCH', `/members/${first.userId}`, { role: 'admin' });
  assert.deepEqual([demotion.status, demotion.body.error], [409, 'conflict']);
  assert.equal((await first.api('DELETE', `/members/${first.userId}`)).status, 409);
  assert.equal((await first.call('DELETE', `/memberships/${first.workspaceId}`)).status, 409);
  assert.equal((await first.api('PATCH', `/members/${first.userId}`, { role: 'owner' })).status, 200);

  const second = await signIn(service, { role: 'owner', workspaceId: first.workspaceId });
  // Both requests must be in progress before either continues. They lock the workspace one after the other.
  const workspace = { text: 'select from workspaces where id = $1 for update', values: [first.workspaceId] };
  const both = await whileHeld(service.services.database, workspace, 2, () =>
    Promise.all([
      first.api('DELETE', `/members/${second.userId}`),
      second.api('DELETE', `/members/${first.userId}`),
    ]),
  );
  assert.equal(both.filter(({ status }) => status === 204).length, 1);
  const { rows } = await service.services.database.query(
    "select role from members where workspace_id = $1 and role = 'owner'",
    [first.workspaceId],
  );
  assert.equal(rows.length, 1);
});

test('if both owners leave at the same time, one stays, because each locks the workspace', async () => {
  const { workspaceId, userId } = await signIn(service);
  const other = await signIn(service, { role: 'owner', workspaceId });
  const { database } = service.services;
  const lock = { text: 'select from workspaces where id = $1 for update', values: [workspaceId] };
  const both = await whileHeld(database, lock, 2, () =>
    Promise.allSettled(
      [userId, other.userId].map((each) => leaveWorkspace(database, { workspaceId, userId: each })),
    ),
  );
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('an admin cannot create, change or remove an owner', async () => {
  const owner = await signIn(service);
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  const viewer = await signIn(service, { role: 'viewer', workspaceId: owner.workspaceId });
  const refused = [
    await admin.api('POST', '/members', { email: 'boss@example.org', role: 'owner' }),
    await admin.api('PATCH', `/members/${admin.userId}`, { role: 'owner' }),
    await admin.api('PATCH', `/members/${viewer.userId}`, { role: 'owner' }),
    await admin.api('PATCH', `/members/${owner.userId}`, { role: 'viewer' }),
    await admin.api('DELETE', `/members/${owner.userId}`),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403, 403, 403],
  );
  assert.equal((await admin.api('PATCH', `/members/${viewer.userId}`, { role: 'editor' })).status, 200);
  assert.equal((await admin.api('DELETE', `/members/${viewer.userId}`)).status, 204);
  assert.equal((await admin.api('DELETE', `/members/${viewer.userId}`)).status, 404);
});

test('the keys of a member who leaves or is removed are revoked, unless the remover keeps them', async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const { workspaceId } = owner;
  const join = () => signIn(service, { role: 'admin', workspaceId });
  const makeKey = async (person: ConsolePerson) =>
    (await person.api<{ id: string; key: string }>('POST', '/keys', { name: 'Theirs' })).body;
  const works = async (key: string) => (await callApi(url, key, 'GET', '/forms')).status === 200;
  const [removed, stayed, left] = [await join(), await join(), await join()];
  const [gone, stays, leaves, own] = [
    await makeKey(removed),
    await makeKey(stayed),
    await makeKey(left),
    await makeKey(owner),
  ];
  const rotated = await removed.api<{ key: string }>('POST', `/keys/${own.id}/rotate`, {
    grace_hours: 0,
  });
  const counted = (await owner.api<{ data: Member[] }>('GET', '/members')).body.data;
  assert.equal(
    counted.find(({ id }) => id === removed.userId)?.key_count,
    2,
    'the one whose secret they saw, too',
  );

  const earlier = await makeKey(removed);
  await owner.api('DELETE', `/keys/${earlier.id}`);
  const after = (await owner.api<{ data: Member[] }>('GET', '/members')).body.data;
  assert.equal(after.find(({ id }) => id === removed.userId)?.key_count, 2, 'without one that was revoked');
  const revokedAt = async () =>
    (await owner.api<{ revoked_at: string }>('GET', `/keys/${earlier.id}`)).body.revoked_at;
  const before = await revokedAt();
  assert.equal((await owner.api('DELETE', `/members/${removed.userId}`)).status, 204);
  assert.equal(await revokedAt(), before, 'a key that had ended keeps the time of its end');
  assert.deepEqual([await works(gone.key), await works(rotated.body.key)], [false, false]);
  assert.equal((await owner.api('DELETE', `/members/${stayed.userId}?keys=keep`)).status, 204);
  assert.equal(await works(stays.key), true);
  assert.equal((await left.call('DELETE', `/memberships/${workspaceId}`)).status, 204);
  assert.equal(await works(leaves.key), false);
});
test('the second of two simultaneous changes to a member returns 412', async () => {
  const owner = await signIn(service);
  const { userId } = await signIn(service, { role: 'viewer', workspaceId: owner.workspaceId });
  const read = await owner.api<Member>('GET', `/members/${userId}`);
  const match = { 'If-Match': read.headers.get('etag')! };
  const change = (role: string) => owner.api<Member>('PATCH', `/members/${userId}`, { role }, match);
  const first = await change('editor');
  assert.deepEqual([first.status, first.body.role], [200, 'editor']);
  assert.equal((await change('admin')).status, 412);
  assert.equal((await owner.api('DELETE', `/members/${userId}`, undefined, match)).status, 412);
  assert.equal((await owner.api<Member>('GET', `/members/${userId}`)).body.role, 'editor');
});

test('a key can manage members like an admin, but never owners, whatever its permissions', async () => {
  const owner = await signIn(service);
  const { workspaceId } = owner;
  const [second, viewer] = [
    await signIn(service, { role: 'owner', workspaceId }),
    await signIn(service, { role: 'viewer', workspaceId }),
  ];
  const permissions = ['members:read', 'members:write'];
  const { key } = (await owner.api<{ key: string }>('POST', '/keys', { name: 'Staff', permissions })).body;
  // An older key can have this permission, which keys can no longer get.
  await service.services.database.query(
    `update api_keys set permissions = permissions || '{members:owners}' where workspace_id = $1`,
    [workspaceId],
  );
  const call = (method: string, path: string, body?: object) => callApi(url, key, method, path, body);
  const refused = [
    await call('POST', '/members', { email: 'boss@example.org', role: 'owner' }),
    await call('PATCH', `/members/${viewer.userId}`, { role: 'owner' }),
    await call('PATCH', `/members/${second.userId}`, { role: 'viewer' }),
    await call('DELETE', `/members/${second.userId}`),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403, 403],
  );
  const invited = await call('POST', '/members', { email: 'staff@example.org', role: 'admin' });
  assert.equal(invited.status, 201);
  assert.equal((await call('PATCH', `/members/${viewer.userId}`, { role: 'editor' })).status, 200);
  const { data } = (await owner.api<{ data: { invited_by: string }[] }>('GET', '/members/invitations')).body;
  assert.equal(data[0]!.invited_by, owner.email.split('@')[0], 'the inviter is the creator of the key');
});
