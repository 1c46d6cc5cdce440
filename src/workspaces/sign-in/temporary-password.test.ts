import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callConsole, signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { setTemporaryPassword } from '../accounts/users.ts';
import type { Session } from './session-shapes.ts';

/* Tests that a password another person has seen allows only its change. */

const service = await openService();
const { url } = service;
const { database } = service.services;
const own = 'a password of my own';

/** Signs in like a browser and returns its cookies. */
async function enter(email: string, password: string): Promise<string> {
  const answer = await callConsole(url, '', 'POST', '/session', { email, password });
  assert.equal(answer.status, 204);
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
}

const mustChange = async (cookie: string): Promise<boolean> =>
  (await callConsole<Session>(url, cookie, 'GET', '/session')).body.user.must_change_password;

async function changePassword(cookie: string, current: string, next: string) {
  const body = { current_password: current, new_password: next };
  const answer = await callConsole<{ errors: { field: string }[] }>(
    url,
    cookie,
    'PUT',
    '/person/password',
    body,
  );
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  return { ...answer, cookie: cookies.join('; ') };
}

test('an operator’s password reset ends all sessions, and the temporary password allows only its change', async () => {
  const person = await signIn(service);
  const { temporaryPassword } = await setTemporaryPassword(database, ` ${person.email.toUpperCase()} `);
  assert.equal((await person.call('GET', '/session')).status, 401, 'the sessions before have ended');
  const old = { email: person.email, password: person.password };
  assert.equal((await callConsole(url, '', 'POST', '/session', old)).status, 401);

  const cookie = await enter(person.email, temporaryPassword);
  assert.equal(await mustChange(cookie), true);
  const inWorkspace = { 'X-Workspace-ID': person.workspaceId };
  for (const [method, path, headers] of [
    ['GET', '/forms', inWorkspace],
    ['POST', '/workspaces', {}],
    ['PATCH', '/person', {}],
  ] as const) {
    const refused = await callConsole<{ error: string }>(url, cookie, method, path, undefined, headers);
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'], path);
  }
  const same = await changePassword(cookie, temporaryPassword, temporaryPassword);
  assert.deepEqual([same.status, same.body.errors.map(({ field }) => field)], [422, ['new_password']]);
  const changed = await changePassword(cookie, temporaryPassword, own);
  assert.equal(changed.status, 204);
  assert.equal(await mustChange(changed.cookie), false);
  const forms = await callConsole(url, changed.cookie, 'GET', '/forms', undefined, inWorkspace);
  assert.equal(forms.status, 200);
  assert.equal(await mustChange(await enter(person.email, own)), false);
});

test('a temporary password expires after a day and then ends its sessions', async () => {
  const { email } = await signIn(service);
  const { temporaryPassword } = await setTemporaryPassword(database, email);
  const cookie = await enter(email, temporaryPassword);
  assert.equal(await mustChange(cookie), true);
  await database.query('update users set temporary_until = now() where email = $1', [email]);
  assert.equal((await callConsole(url, cookie, 'GET', '/session')).status, 401);
  assert.equal((await changePassword(cookie, temporaryPassword, own)).status, 401);
  const again = { email, password: temporaryPassword };
  const refused = await callConsole<{ message: string }>(url, '', 'POST', '/session', again);
  assert.deepEqual(
    [refused.status, refused.body.message, refused.headers.getSetCookie()],
    [401, 'This temporary password has expired. Ask for a new one.', []],
  );
});

test('a session ends thirty days after sign-in, even if it is used', async () => {
  const person = await signIn(service);
  const age = (days: number) =>
    database.query(`update sessions set created_at = now() - make_interval(days => $2) where user_id = $1`, [
      person.userId,
      days,
    ]);
  await age(29);
  assert.equal((await person.call('GET', '/session')).status, 200);
  await age(30);
  assert.equal((await person.call('GET', '/session')).status, 401);
  const { rowCount } = await database.query('select from sessions where user_id = $1', [person.userId]);
  assert.equal(rowCount, 0);
});

test('using a session in the console or the API extends it and its cookie', async () => {
  const { workspaceId } = await service.makeTenant();
  const person = await signIn(service, { workspaceId, role: 'viewer' });
  const ask = {
    console: () => person.call('GET', '/session'),
    API: () =>
      fetch(`${url}/api/v1/forms`, { headers: { Cookie: person.cookie, 'X-Workspace-ID': workspaceId } }),
  };
  for (const [where, request] of Object.entries(ask)) {
    assert.deepEqual((await request()).headers.getSetCookie(), [], where);
    await database.query(`update sessions set expires_at = now() + interval '5 days' where user_id = $1`, [
      person.userId,
    ]);
    const { status, headers } = await request();
    assert.equal(status, 200);
    assert.match(headers.getSetCookie().join(), /session_token=[^;]+; Max-Age=604800;/, where);
  }
});

test('a password reset for an unknown email returns `not_found`', async () => {
  await assert.rejects(setTemporaryPassword(database, 'unknown@example.org'), { code: 'not_found' });
});
