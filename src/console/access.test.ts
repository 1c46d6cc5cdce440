import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openDatabase } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { LocatedForm } from '#search/table-arrangement.ts';
import { element, structure } from '#test/ast/forms.ts';
import { callConsole, signIn } from '#test/console.ts';
import { callApi, openService } from '#test/service.ts';
import { openAccounts } from '#workspaces/accounts/users.ts';
import { findSignedInPerson } from '#workspaces/sign-in/require-person.ts';

const service = await openService();
const { url, services } = service;
const owner = await signIn(service);

const nameOf = async (): Promise<string> =>
  (
    await services.database.query<{ name: string }>('select name from workspaces where id = $1', [
      owner.workspaceId,
    ])
  ).rows[0]!.name;

/** Requests that another site can make a browser send, with the cookie. docs/rules.md T21, C32. */
const foreign: [what: string, headers: Record<string, string>][] = [
  ['an Origin of another site', { Origin: 'https://evil.example' }],
  ['no Origin at all', { Origin: '' }],
  ['an opaque Origin', { Origin: 'null' }],
  ['an Origin that only begins like ours', { Origin: `${url}.evil.example` }],
  ['Sec-Fetch-Site cross-site, whatever the Origin', { 'Sec-Fetch-Site': 'cross-site' }],
  ['Sec-Fetch-Site same-site: a neighbour, not us', { 'Sec-Fetch-Site': 'same-site' }],
  ['JSON in a text/plain body', { 'Content-Type': 'text/plain' }],
  ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['a type that only contains ours', { 'Content-Type': 'text/plain; application/json' }],
];

for (const [what, headers] of foreign) {
  test(`a request with ${what} is rejected and changes nothing`, async () => {
    const answer = await owner.api('PATCH', '/workspace', { name: 'Imported' }, headers);
    assert.deepEqual([answer.status, answer.body.error], [403, 'forbidden']);
    assert.equal(await nameOf(), 'Test');
  });

  test(`a sign-in request with ${what} is rejected`, async () => {
    const answer = await callConsole(
      url,
      '',
      'POST',
      '/session',
      { email: owner.email, password: owner.password },
      headers,
    );
    assert.equal(answer.status, 403);
    assert.deepEqual(answer.headers.getSetCookie(), []);
  });
}

test("a request of the console's page passes, by Origin or by Sec-Fetch-Site", async () => {
  assert.equal((await owner.api('PATCH', '/workspace', { name: 'Ours' })).status, 200);
  const modern = {
    Origin: '',
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': 'application/json; charset=utf-8',
  };
  assert.equal((await owner.api('PATCH', '/workspace', { name: 'Test' }, modern)).status, 200);
});

test('there is no CORS: a preflight from any origin is rejected', async () => {
  const answer = await fetch(`${url}/app/api/session`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
  });
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
});

test('an API key is not a session, and a session is not an API key', async () => {
  const key = (await owner.api<{ key: string }>('POST', '/keys', { name: 'K' })).body.key;
  const withKey = await callConsole<{ error: string }>(url, '', 'GET', '/session', undefined, {
    Authorization: `Bearer ${key}`,
  });
  assert.equal(withKey.status, 401);
  const withCookie = await fetch(`${url}/api/v1/forms`, { headers: { Cookie: owner.cookie } });
  assert.equal(withCookie.status, 401);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
});

/** Not the last character of the signature, because some of its bits are unused. */
const forged = owner.cookie.replace(
  /\.([^.])([^.]*)$/,
  (_, first: string, rest: string) => `.${first === 'x' ? 'y' : 'x'}${rest}`,
);
const broken: [what: string, cookie: string][] = [
  ['without a signature', 'formloom.session_token=abc'],
  ['with a wrong signature', forged],
  ['that is empty', 'formloom.session_token='],
  ['of 7 KB', `formloom.session_token=${'x'.repeat(7_000)}`],
  ['under another name', owner.cookie.replace('formloom.', 'other.')],
];

for (const [what, cookie] of broken) {
  test(`a session cookie ${what} is a 401`, async () => {
    assert.equal((await callConsole(url, cookie, 'GET', '/session')).status, 401);
  });
}

test('a changed role applies from the next request', async () => {
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  assert.equal((await admin.api('GET', '/keys')).status, 200);
  await owner.api('PATCH', `/members/${admin.userId}`, { role: 'viewer' });
  assert.equal((await admin.api('GET', '/keys')).status, 403);
  await owner.api('DELETE', `/members/${admin.userId}`);
  assert.equal((await admin.api('GET', '/workspace')).status, 404);
});

test('while the database is away, a session is not reported as signed out', async () => {
  const { vault, log } = services;
  const database = openDatabase(
    { connectionString: 'postgres://nobody@127.0.0.1:1/nothing' },
    { pool: 1, log },
  );
  const accounts = openAccounts({ database, vault, log, publicUrl: services.config.publicUrl });
  const asked = findSignedInPerson(accounts, owner.cookie);
  await assert.rejects(asked, (error) => error instanceof ApiError && error.code === 'service_unavailable');
  await database.end();
});

test('responses are not cached', async () => {
  assert.equal((await owner.call('GET', '/session')).headers.get('cache-control'), 'no-store');
});

test('only members can locate a form by its id', async () => {
  const { body: form } = await owner.api<{ id: string }>('POST', '/forms', {
    structure: structure(element('text', 'a')),
  });
  const found = await owner.call<LocatedForm>('GET', `/forms/${form.id}/locate`);
  assert.deepEqual(
    [found.body.workspace_id, found.body.name, found.body.status, found.body.role, found.body.public_url],
    [owner.workspaceId, 'Contact', 'draft', 'owner', `${services.config.publicUrl}/f/${form.id}`],
  );
  const stranger = await signIn(service);
  const foreign = await stranger.call('GET', `/forms/${form.id}/locate`);
  const absent = await stranger.call('GET', `/forms/${randomUUID()}/locate`);
  assert.equal(foreign.status, 404);
  assert.deepEqual(foreign.body, absent.body);
  assert.equal((await owner.call('GET', '/forms/x/locate')).status, 400);
});
