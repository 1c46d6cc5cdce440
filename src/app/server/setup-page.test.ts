import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callApi, openService } from '#test/service.ts';
import { openVisitor, type Visit } from '#test/visitor.ts';
import { createSetupToken } from '#workspaces/workspaces.ts';

const service = await openService();
const visitor = openVisitor(service);
const { database } = service.services;
const first = (await createSetupToken(database))!;
const token = (await createSetupToken(database))!;

const account = { email: 'ada@example.com', password: 'correct horse battery', workspace_name: 'Ada & <Co>' };
const send = (given: Record<string, string>, by = token): Promise<Visit> =>
  visitor.fetch(`/app/setup?token=${by}`, { method: 'POST', body: new URLSearchParams(given) });
/** Returns what the sign-in screen uses to send people without an account to the setup link. */
const isSetUp = async (): Promise<boolean> =>
  JSON.parse((await visitor.fetch('/app/api/session/ways')).text).is_set_up;
const accounts = async (): Promise<number> =>
  (await database.query<{ count: number }>('select count(*) from users')).rows[0]!.count;

test('the setup page asks for an address, a password and a name, needs no script and is not cached', async () => {
  const { status, text, headers } = await visitor.fetch(`/app/setup?token=${token}`);
  assert.equal(status, 200);
  for (const name of Object.keys(account)) assert.match(text, new RegExp(`<label for="${name}">`));
  assert.match(text, /<form method="post"/);
  assert.doesNotMatch(text, /<script/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
});

const wrong: readonly [name: string, change: Record<string, string>, field: string][] = [
  ['no address', { email: '' }, 'email'],
  ['a broken address', { email: 'ada' }, 'email'],
  ['a short password', { password: 'short' }, 'password'],
  ['no name', { workspace_name: ' ' }, 'workspace_name'],
];
for (const [name, change, field] of wrong) {
  test(`${name}: 422 with the page and the message at its field; other values are kept, but never a password`, async () => {
    const { status, text } = await send({ ...account, ...change });
    assert.equal(status, 422);
    assert.match(text, new RegExp(`<div id="${field}-error" class="error"><p>[^<]{10,}</p></div>`));
    assert.match(text, new RegExp(`<input[^>]*name="${field}"[^>]*aria-invalid="true"`));
    if (field !== 'email') assert.match(text, /value="ada@example\.com"/);
    if (field !== 'workspace_name') assert.match(text, /value="Ada &amp; &lt;Co&gt;"/);
    assert.doesNotMatch(text, /correct horse battery/);
    assert.equal(await accounts(), 0);
  });
}

test('a wrong, missing or earlier token shows a notice and creates no account', async () => {
  for (const by of [first, 'x', `${token}x`, token.slice(0, -1), 'a'.repeat(5_000)]) {
    const { status, text } = await send(account, by);
    assert.equal(status, 410, by);
    assert.match(text, /This link does not work/);
  }
  assert.equal((await visitor.fetch('/app/setup')).status, 404);
  assert.equal((await visitor.fetch('/app/setup?token=a&token=b')).status, 404);
  assert.equal(await accounts(), 0);
});

test('a body that is not a form is rejected', async () => {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(account),
  };
  assert.equal((await visitor.fetch(`/app/setup?token=${token}`, request)).status, 415);
  assert.equal(
    (
      await visitor.fetch(`/app/setup?token=${token}`, {
        method: 'POST',
        body: `email=${'x'.repeat(2_000_000)}`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
    ).status,
    413,
  );
  assert.equal(await accounts(), 0);
});

test('one of ten parallel requests creates the account; it gets a working key, and the link is disabled', async () => {
  assert.equal(await isSetUp(), false);
  const visits = await Promise.all(
    Array.from({ length: 10 }, (_, index) => send({ ...account, email: `ada${index}@example.com` })),
  );
  const [made, ...more] = visits.filter(({ status }) => status === 200);
  assert.deepEqual(
    [more.length, visits.filter(({ status }) => status === 410).length, await accounts()],
    [0, 9, 1],
  );
  const [key] = /fl_[\w-]{43}/.exec(made!.text)!;
  const { status, body } = await callApi(service.url, key, 'GET', '/forms');
  assert.deepEqual([status, body.data], [200, []]);
  assert.equal((await send(account)).status, 410);
  assert.equal(await createSetupToken(database), undefined);
  assert.equal(await isSetUp(), true);
});
