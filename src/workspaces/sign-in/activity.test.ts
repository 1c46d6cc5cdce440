import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { type ConsolePerson, callConsole, signIn } from '#test/console.ts';
import { openService, until } from '#test/service.ts';

const service = await openService();
const { url } = service;
type Deed = {
  operation: string;
  status: number;
  address: string | null;
  by_operator: boolean;
  is_this: boolean;
};
type Line = { operation: string; status: number; by: string; address: string | null; thing_id: string };

const activityOf = async (person: ConsolePerson): Promise<Deed[]> =>
  (await person.call<{ data: Deed[] }>('GET', '/person/activity')).body.data;
const auditOf = async (person: ConsolePerson): Promise<Line[]> =>
  (await person.api<{ data: Line[] }>('GET', '/audit?per_page=100')).body.data;
const enter = (email: string, password: string) =>
  callConsole(url, '', 'POST', '/session', { email, password });
const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');

test('sign-ins, failed sign-ins, sign-outs and account changes are in the person’s activity and the audit logs of their workspaces', async () => {
  const person = await signIn(service);
  const colleague = await signIn(service, { workspaceId: person.workspaceId, role: 'admin' });
  const stranger = await signIn(service);
  assert.equal((await enter(person.email, 'a wrong password')).status, 401);
  const entered = await enter(person.email, person.password);
  const cookie = cookieOf(entered.headers);
  await callConsole(url, cookie, 'PATCH', '/person', { name: 'Another' });
  await callConsole(url, cookie, 'DELETE', '/session', {});
  await person.call('DELETE', '/person/sessions', { password: person.password });
  const expected = [
    ['endOtherSessions', 200],
    ['signOut', 200],
    ['renamePerson', 200],
    ['signIn', 200],
    ['signIn', 401],
  ];
  const pick = (lines: readonly (Deed | Line)[]) => lines.map(({ operation, status }) => [operation, status]);
  const byName = (lines: unknown[]) => lines.map(String).sort();
  const activity = await until('the try to be noted', async () => {
    const lines = await activityOf(person);
    return lines.length === expected.length && lines;
  });
  assert.deepEqual(byName(pick(activity)), byName(expected));
  assert.ok(activity.every(({ address, by_operator }) => address === '127.0.0.1' && !by_operator));
  assert.equal(activity.find(({ operation }) => operation === 'endOtherSessions')!.is_this, true);
  assert.deepEqual(byName(pick(await auditOf(colleague))), byName(expected));
  assert.deepEqual(await activityOf(stranger), []);
  assert.deepEqual(await auditOf(stranger), []);
});

test('a sign-in with an unknown email is not recorded', async () => {
  const { database } = service.services;
  const count = async () =>
    (await database.query<{ count: string }>('select count(*) as count from person_lines')).rows[0]!.count;
  const person = await signIn(service);
  const before = Number(await count());
  await enter('unknown@example.org', 'a wrong password');
  await enter(person.email, 'a wrong password');
  await until('the other try to be noted', async () => Number(await count()) > before);
  assert.equal(Number(await count()), before + 1);
});

test('joining, leaving and creating a workspace and two-factor changes are recorded in the workspaces concerned', async () => {
  const owner = await signIn(service);
  const created = await owner.call<{ id: string }>('POST', '/workspaces', { name: 'Second' });
  assert.equal(created.status, 201);
  const inSecond = async () =>
    (
      await callConsole<{ data: Line[] }>(url, owner.cookie, 'GET', '/audit', undefined, {
        'X-Workspace-ID': created.body.id,
      })
    ).body.data.map(({ operation }) => operation);
  assert.deepEqual(await inSecond(), ['createWorkspace']);
  const member = await signIn(service, { workspaceId: owner.workspaceId, role: 'editor' });
  assert.equal((await member.call('DELETE', `/memberships/${owner.workspaceId}`)).status, 204);
  const left = (await auditOf(owner)).find(({ operation }) => operation === 'leaveWorkspace')!;
  assert.deepEqual([left.thing_id, left.by, left.status], [member.userId, 'session', 200]);
});

test('the operator’s commands are recorded as commands', async () => {
  const person = await signIn(service);
  const run = async (...words: string[]) =>
    assert.equal(
      await runCommandLine([...words, '--json'], {
        environment: service.environment,
        print() {},
        complain: (text) => assert.fail(text),
      }),
      0,
    );
  await run('user', 'password', '--email', person.email);
  await run(
    'user',
    'invite',
    '--email',
    'invited@example.org',
    '--workspace',
    person.workspaceId,
    '--role',
    'editor',
  );
  await run('workspace', 'plan', person.workspaceId, 'pro');
  const admin = await signIn(service, { workspaceId: person.workspaceId, role: 'admin' });
  const lines = (await auditOf(admin)).map(({ operation, by, address }) => [operation, by, address]);
  assert.deepEqual(lines, [
    ['setPlan', 'command', null],
    ['inviteMember', 'command', null],
    ['replacePassword', 'command', null],
  ]);
});
