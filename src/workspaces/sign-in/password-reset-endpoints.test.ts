import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callConsole, signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
  TRUST_PROXY: '1',
});
const { url } = service;
const { database } = service.services;
const chosen = 'the next password';

let addresses = 0;
/** Requests a reset from a separate IP address, so that only the limit under test counts. */
const ask = (email: string, address = `10.0.${Math.floor((addresses += 1) / 250)}.${addresses % 250}`) =>
  callConsole<{ error: string }>(
    url,
    '',
    'POST',
    '/password-resets',
    { email },
    { 'X-Forwarded-For': address },
  );
const finish = (token: string, password = chosen) =>
  callConsole<{ email: string; error: string }>(
    url,
    '',
    'PUT',
    '/password-resets',
    { token, password },
    { 'X-Forwarded-For': `10.1.0.${(addresses += 1)}` },
  );
const tokenFor = async (email: string, known = 0): Promise<string> =>
  /\/app\/reset-password\/(\S+)/.exec((await server.waitForOne(email, known)).mail.text!)![1]!;
const enter = (email: string, password: string) =>
  callConsole(
    url,
    '',
    'POST',
    '/session',
    { email, password },
    { 'X-Forwarded-For': `10.2.0.${(addresses += 1)}` },
  );

test('the emailed link sets a password once, ends every session, and the person gets an email', async () => {
  const person = await signIn(service);
  assert.equal((await ask(person.email.toUpperCase())).status, 202);
  const token = await tokenFor(person.email);
  assert.equal((await finish(token, 'short')).status, 422, 'a refused password does not use the link up');
  const answers = await Promise.all([finish(token), finish(token)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 410]);
  assert.equal((await person.call('GET', '/session')).status, 401);
  assert.equal((await enter(person.email, person.password)).status, 401);
  assert.equal((await enter(person.email, chosen)).status, 204);
  assert.equal((await server.waitForOne(person.email, 1)).mail.subject, 'Your password was changed');
  const log = await person.api('GET', '/mails');
  assert.equal(log.status, 401);
  const { rows } = await database.query('select is_private from mails where recipient = $1', [person.email]);
  assert.deepEqual(rows, [{ is_private: true }, { is_private: true }], 'no workspace sees these in its log');
});

test('a person who signs in only with a provider can set a first password with the link', async () => {
  const person = await signIn(service);
  await database.query(
    "update accounts set provider_id = 'oidc', account_id = 'https://login.example.org ada', password = null where user_id = $1",
    [person.userId],
  );
  await ask(person.email);
  assert.equal((await finish(await tokenFor(person.email))).status, 200);
  assert.equal((await enter(person.email, chosen)).status, 204);
  const { rows } = await database.query(
    'select provider_id from accounts where user_id = $1 order by provider_id',
    [person.userId],
  );
  assert.deepEqual(rows, [{ provider_id: 'credential' }, { provider_id: 'oidc' }], 'the provider stays');
});

test('an expired or guessed link sets no password', async () => {
  const person = await signIn(service);
  await ask(person.email);
  const token = await tokenFor(person.email);
  await database.query('update password_resets set expires_at = now()');
  assert.equal((await finish(token)).status, 410);
  assert.equal((await finish('x'.repeat(43))).status, 410);
  assert.equal((await enter(person.email, person.password)).status, 204);
});

test('an unknown email gets the same response as a known one, but no email', async () => {
  const person = await signIn(service);
  const [known, unknown] = [await ask(person.email), await ask('stranger@example.org')];
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body]);
  await server.waitForOne(person.email);
  await until('every job to be done', async () => {
    const { rowCount } = await database.query("select from jobs where kind = 'mail_news'");
    return rowCount === 0;
  });
  assert.equal(server.taken.filter(({ to }) => to.includes('stranger@example.org')).length, 0);
  for (const wrong of ['no address', 'Ada <ada@example.org>'])
    assert.equal((await ask(wrong)).status, 422, wrong);
});

test('reset requests are limited by IP address and by email, for unknown emails too', async () => {
  for (const email of [(await signIn(service)).email, 'unknown@example.org']) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(email)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 202, 202, 429, 429, 429]);
  }
  const many = await Promise.all(
    Array.from({ length: 12 }, (_, index) => ask(`many-${index}@example.org`, '10.9.9.9')),
  );
  assert.equal(many.filter(({ status }) => status === 429).length, 2);
});
