import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { callConsole, signIn } from '#test/console.ts';
import { openProvider, openProviderVisitor, providerSettings } from '#test/provider.ts';
import { openReceiver } from '#test/receiver.ts';
import { freePort, openService } from '#test/service.ts';
import { whileHeld } from '#test/while-held.ts';
import { openAccounts } from '../accounts/users.ts';
import { createWorkspace } from '../workspaces.ts';
import { signInByProvider, startProviderSignIn } from './identity-provider.ts';

/* Tests signing in with an identity provider: a certified one that runs in this process (oidc-provider). */

const mapped = newId();
const port = await freePort();
const service = await openService({
  TRUST_PROXY: '1',
  ...providerSettings(port),
  OIDC_ROLES: `staff=${mapped}:viewer,chiefs=${mapped}:admin,gone=${newId()}:editor`,
});
const { url, services } = service;
const { database } = services;
const provider = await openProvider(port, () => services.config.publicUrl);
await database.query(
  "insert into workspaces (id, name, plan, created_at) values ($1, 'Mapped', 'free', now())",
  [mapped],
);

const { begin, finish, enter } = openProviderVisitor(service, provider);

const ada = {
  sub: 'ada',
  email: 'Ada@example.org',
  email_verified: true,
  name: 'Ada\u0301',
  groups: ['staff', 'gone'],
};

test('a person who signs in with the provider has an account and, at each sign-in, the roles of its claim', async () => {
  const first = await enter(ada);
  assert.equal(first.status, 204);
  const session = await first.session();
  assert.deepEqual([session.user.email, session.user.name], ['ada@example.org', 'Adá']);
  assert.deepEqual(
    session.workspaces.map(({ id, role }) => [id, role]),
    [[mapped, 'viewer']],
  );
  const again = await (
    await enter({ ...ada, email: 'new@example.org', groups: ['staff', 'chiefs'] })
  ).session();
  assert.deepEqual([again.user.id, again.workspaces[0]!.role], [session.user.id, 'admin']);
  const readMembers = async () =>
    (await database.query('select role, updated_at from members where user_id = $1', [session.user.id])).rows;
  const before = await readMembers();
  assert.equal((await (await enter({ ...ada, groups: [] })).session()).workspaces[0]!.role, 'admin');
  assert.equal((await enter({ ...ada, groups: ['chiefs'] })).status, 204);
  assert.deepEqual(await readMembers(), before, 'a role that stays is not written');

  await database.query("update members set role = 'owner' where user_id = $1", [session.user.id]);
  const owner = await enter(ada);
  assert.equal(owner.status, 204);
  assert.equal((await owner.session()).workspaces[0]!.role, 'owner');
  assert.equal(provider.discoveries, 1, 'the provider is discovered once');
});

test('an email of another domain, or one that the provider does not confirm, is refused and leaves nothing', async () => {
  for (const person of [
    { sub: 'x1', email: 'x@example.com', email_verified: true },
    { sub: 'x2', email: 'x@example.org.evil.example', email_verified: true },
    { sub: 'x3', email: 'x@example.org', email_verified: false },
    { sub: 'x4', email: 'x@example.org' },
    { sub: 'x5', email_verified: true },
    { sub: 'x6', email: 'x @example.org', email_verified: true },
    { sub: 'x7', email: '"x@example.org@" <x@example.com>', email_verified: true },
    { sub: 'x8', email: 'x@example.org <x@example.com>', email_verified: true },
    { sub: 'x9', email: 'X <x@example.org>', email_verified: true },
  ]) {
    const refused = await enter(person);
    assert.deepEqual([refused.status, refused.headers.getSetCookie()], [403, []]);
  }
  const { rowCount } = await database.query("select from users where email like '%x@%'");
  assert.equal(rowCount, 0);
});

test('an unconfirmed email is trusted only if the operator says so and the provider does not deny it', async () => {
  const config = services.config.identityProvider!;
  config.trustsEmail = true;
  const silent = { sub: 'silent', email: 'silent@example.org' };
  const entered = await enter(silent);
  assert.equal(entered.status, 204);
  assert.equal((await entered.session()).user.name, 'silent', 'who has no name is called by the address');
  for (const person of [
    { sub: 'y1', email: 'y@example.org', email_verified: false },
    { sub: 'y2', email: 'y@example.com' },
  ])
    assert.equal((await enter(person)).status, 403, person.sub);
  config.trustsEmail = false;
  assert.equal((await enter({ sub: 'other', email: 'other@example.org' })).status, 403);
});

test('a provider’s response is accepted once, unchanged and in the browser that started the sign-in', async () => {
  provider.person = ada;
  const { answer, kept } = await begin();
  const other = await begin();
  for (const [given, cookie] of [
    [answer, ''],
    [answer, other.kept],
    [answer, kept.replace(/=./, '=_')],
    [answer.replace(/code=[^&]+/, 'code=made-up'), kept],
    [answer.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), kept],
    ['?error=access_denied', kept],
  ] as const) {
    const refused = await finish(given, cookie);
    assert.deepEqual([refused.status, refused.headers.getSetCookie()], [401, []], given);
  }
  const late = await begin();
  const [name, sealed] = late.kept.split('=') as [string, string];
  const state = JSON.parse(services.vault.unseal('sessions', Buffer.from(sealed, 'base64url'))) as object;
  const over = services.vault.seal('sessions', JSON.stringify({ ...state, until: Date.now() }));
  const tooLate = await finish(late.answer, `${name}=${over.toString('base64url')}`);
  assert.equal(tooLate.status, 401);
  assert.match(tooLate.body.message, /has expired/);
  const fresh = await begin();
  assert.equal((await finish(fresh.answer, fresh.kept)).status, 204);
  assert.equal((await finish(fresh.answer, fresh.kept)).status, 401);
});

test('an existing account is reused, and its old sessions and password end if its email was never confirmed', async () => {
  const known = await signIn(service, { email: 'known@example.org' });
  const own = await (await enter({ sub: 'known', email: known.email, email_verified: true })).session();
  assert.equal(own.user.id, known.userId);
  assert.equal((await known.call('GET', '/session')).status, 200);

  const squatter = await signIn(service, { email: 'squatted@example.org' });
  await database.query('update users set email_verified = false where id = $1', [squatter.userId]);
  assert.equal((await enter({ sub: 's', email: squatter.email, email_verified: true })).status, 204);
  assert.equal((await squatter.call('GET', '/session')).status, 401);
  const old = { email: squatter.email, password: squatter.password };
  assert.equal((await callConsole(url, '', 'POST', '/session', old)).status, 401);

  const temporary = await signIn(service, { email: 'temporary@example.org' });
  await database.query('update users set temporary_until = now() where id = $1', [temporary.userId]);
  assert.equal((await enter({ sub: 't', email: temporary.email, email_verified: true })).status, 401);
});

test('if two people sign in at the same time with one email, one succeeds and the other gets 409', async () => {
  const answers: Awaited<ReturnType<typeof begin>>[] = [];
  for (const sub of ['twin-1', 'twin-2']) {
    provider.person = { sub, email: 'twin@example.org', email_verified: true };
    answers.push(await begin());
  }
  const users = { text: 'lock table users in share row exclusive mode', values: [] };
  provider.person = { sub: '', email: 'twin@example.org', email_verified: true };
  const both = await whileHeld(database, users, 2, () =>
    Promise.all(answers.map(({ answer, kept }) => finish(answer, kept))),
  );
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [204, 409]);
});

test('two-factor set up here is required, unless the provider used several factors', async () => {
  const { id } = await createWorkspace(database, { name: 'Closed', plan: 'free' });
  await database.query('update workspaces set second_factor_required = true where id = $1', [id]);
  const person = await signIn(service, { email: 'two@example.org', workspaceId: id });
  const claims = { sub: 'two', email: person.email, email_verified: true };
  assert.deepEqual((await (await enter(claims)).session()).closed_workspaces, [id]);
  const alone = await (await enter({ ...claims, amr: ['pwd'] })).session();
  assert.deepEqual(alone.closed_workspaces, [id]);
  const many = await (await enter({ ...claims, amr: ['pwd', 'mfa'] })).session();
  assert.deepEqual([many.closed_workspaces, many.second_steps], [[], null]);
  await database.query('update users set second_factor = true where id = $1', [person.userId]);
  assert.notEqual((await (await enter(claims)).session()).second_steps, null);
});

test('the client secret is never sent unencrypted to a provider that uses HTTPS, even if its metadata says so', async () => {
  const secure = await openReceiver();
  const issuer = new URL(secure.url).origin;
  let requests = 0;
  const plain = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const body = JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `http://127.0.0.1:${(plain.address() as AddressInfo).port}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
  });
  secure.replyWith({ status: 200, headers: { 'Content-Type': 'application/json' }, body });
  const { publicUrl, identityProvider } = services.config;
  const context = {
    ...services,
    accounts: openAccounts({ ...services, publicUrl }),
    config: { publicUrl, identityProvider: { ...identityProvider!, issuer } },
  };
  const visitor = { address: '192.0.2.1', ip: '192.0.2.1', headers: new Headers() };
  const { url: question, cookie } = await startProviderSignIn(context, visitor);
  const answer = `?code=code&state=${new URL(question).searchParams.get('state')!}`;
  await assert.rejects(signInByProvider(context, visitor, { answer, cookie }), { code: 'unauthorized' });
  assert.equal(requests, 0);
  plain.close();
});
