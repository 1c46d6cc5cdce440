import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, now } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { openAuthenticator } from '#test/authenticator.ts';
import { beginSession, type ConsolePerson, callConsole, signIn } from '#test/console.ts';
import { callApi, openService, until } from '#test/service.ts';
import { whileHeld } from '#test/while-held.ts';
import { setTemporaryPassword } from '../accounts/users.ts';
import { passkeyOriginOf } from './passkey.ts';
import { insertPasskey, mostPasskeys, recordPasskeyUse } from './passkeys.ts';
import { codeTriesInDay, resetFactors, saveTotpSecret } from './second-factor.ts';
import type { Session } from './session-shapes.ts';
import { signInTries } from './sign-in.ts';
import { computeTotpCode, newTotpSecret, totpStepAt } from './two-factor-codes.ts';

const service = await openService({}, { publicHost: 'localhost' });
const { url } = service;
const { database } = service.services;

const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .filter((cookie) => !/=;/.test(cookie))
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');

const call = <Body = { message: string }>(cookie: string, method: string, path: string, body?: unknown) =>
  callConsole<Body>(url, cookie, method, path, body);

/** Returns the cookie of a browser after the password and before two-factor. */
const half = ({ userId }: ConsolePerson): Promise<string> => beginSession(service, userId);

/** Signs in with the password, in an unknown browser. */
async function enter(person: ConsolePerson, password = person.password): Promise<string> {
  const { status, headers } = await call('', 'POST', '/session', { email: person.email, password });
  assert.equal(status, 204);
  return cookieOf(headers);
}

const sessionOf = async (cookie: string) => (await call<Session>(cookie, 'GET', '/session')).body;
const firstSteps = new Map<string, number>();
/**
 * Returns a code relative to the first time step used with this secret. A busy machine may reach the next
 * half a minute. No code is accepted twice, and codes two steps away are also valid.
 */
function codeIn(secret: string, steps = 0): string {
  const first = firstSteps.get(secret) ?? totpStepAt(new Date());
  firstSteps.set(secret, first);
  return computeTotpCode(secret, first + steps);
}

/**
 * Creates a person with an authenticator app. Skips the password check of `startTotpSetup`, which takes 150 ms of
 * CPU each time.
 */
async function enrol(options: Parameters<typeof signIn>[1] = {}) {
  const person = await signIn(service, options);
  const secret = newTotpSecret();
  const sealed = service.services.vault.seal('second factors', secret);
  await saveTotpSecret(database, { user_id: person.userId, secret: sealed, now: now() });
  // The previous code is valid until the current half a minute ends, so this waits unless enough time is
  // left.
  await until('half a minute with time left', async () => Date.now() % 30_000 < 25_000);
  const added = await person.call<{ recovery_codes: string[] }>('PUT', '/person/totp', {
    code: codeIn(secret, -1),
  });
  assert.equal(added.status, 200);
  return { person, secret, codes: added.body.recovery_codes, cookie: cookieOf(added.headers) };
}

const step = (cookie: string, code: string) => call(cookie, 'POST', '/session/second-step', { code });

test('a code adds an authenticator app; then a sign-in needs two steps, and the first gives no access', async () => {
  const { person, secret, cookie } = await enrol({ name: 'Ada' });
  assert.equal((await person.call('GET', '/session')).status, 401, 'sessions before it have ended');
  assert.equal((await sessionOf(cookie)).user.name, 'Ada');

  const waiting = await enter(person);
  const session = await sessionOf(waiting);
  assert.deepEqual(
    [session.second_steps, session.workspaces, session.may_create_workspaces],
    [['totp', 'recovery_code'], [], false],
  );
  const inWorkspace = { 'X-Workspace-ID': person.workspaceId };
  for (const [method, path, headers] of [
    ['GET', '/forms', inWorkspace],
    ['POST', '/workspaces', {}],
    ['PATCH', '/person', {}],
    ['PUT', '/person/password', {}],
    ['GET', '/person/second-factors', {}],
    ['DELETE', '/person/totp', {}],
    ['POST', '/joins', {}],
  ] as const) {
    const refused = await callConsole<{ message: string }>(url, waiting, method, path, undefined, headers);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'Complete two-factor sign-in first.'],
      path,
    );
  }

  const whole = await step(waiting, codeIn(secret));
  assert.equal(whole.status, 204);
  const opened = cookieOf(whole.headers);
  assert.equal((await sessionOf(opened)).second_steps, null);
  assert.equal(
    (await call(waiting, 'GET', '/session')).status,
    401,
    'the session that waited is another one',
  );
  assert.equal((await step(opened, codeIn(secret, 1))).status, 409);
});

test('a code and a recovery code work once, and a wrong code gives no access', async () => {
  const { person, secret, codes } = await enrol();
  assert.equal(codes.length, 10);
  const wrong = await step(await half(person), '000000');
  assert.deepEqual([wrong.status, wrong.headers.getSetCookie()], [422, []]);
  assert.equal((await step(await half(person), codeIn(secret, -1))).status, 422, 'it confirmed the app');
  assert.equal((await step(await half(person), ` ${codeIn(secret)} `)).status, 204);
  assert.equal((await step(await half(person), codeIn(secret))).status, 422);

  const typed = codes[0]!.toUpperCase().replace('-', ' ');
  assert.equal((await step(await half(person), typed)).status, 204);
  assert.equal((await step(await half(person), codes[0]!)).status, 422);
  const { rows } = await database.query<{ left: string }>(
    'select count(*) as left from recovery_codes where user_id = $1',
    [person.userId],
  );
  assert.equal(Number(rows[0]!.left), 9);
});

test('of 60 simultaneous wrong codes 10 are checked, and of three simultaneous valid codes one succeeds', async () => {
  const { person, secret } = await enrol();
  const sessions = await Promise.all([half(person), half(person), half(person)]);
  const right = await Promise.all(sessions.map((session) => step(session, codeIn(secret))));
  assert.deepEqual(right.map(({ status }) => status).toSorted(), [204, 422, 422]);
  const waiting = await half(person);
  const wrong = await Promise.all(Array.from({ length: 60 }, () => step(waiting, 'aaaaa-aaaaa')));
  const looked = wrong.filter(({ status }) => status === 422);
  assert.equal(looked.length, signInTries.ofAccount - right.length);
});

test('app codes can be tried thirty times a day; a recovery code and a known browser still work', async () => {
  const { person, secret, codes } = await enrol();
  const first = await step(await half(person), codes[0]!);
  const known = cookieOf(first.headers);
  await Promise.all(
    Array.from({ length: codeTriesInDay }, () =>
      service.services.requestCounter.count(`codes of ${person.userId}`, 86_400),
    ),
  );
  const refused = await step(await half(person), codeIn(secret));
  assert.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 60], [429, true]);
  assert.equal((await step(await half(person), codes[1]!)).status, 204);
  const again = await call(known, 'POST', '/session', { email: person.email, password: person.password });
  const device = known.split('; ').find((cookie) => cookie.includes('device'))!;
  assert.equal((await step(`${cookieOf(again.headers)}; ${device}`, codeIn(secret))).status, 204);
});

test('a browser becomes known after two-factor, not after the password', async () => {
  const { person, codes } = await enrol();
  assert.doesNotMatch(await enter(person), /device/);
  assert.match(cookieOf((await step(await half(person), codes[0]!)).headers), /device/);
});

test('a session that waits for two-factor ends after ten minutes', async () => {
  const { person } = await enrol();
  const waiting = await half(person);
  const age = (minutes: number) =>
    database.query(
      'update sessions set created_at = now() - make_interval(mins => $2) where user_id = $1 and second_factor_at is null',
      [person.userId, minutes],
    );
  await age(9);
  assert.equal((await call(waiting, 'GET', '/session')).status, 200);
  await age(10);
  assert.equal((await call(waiting, 'GET', '/session')).status, 401);
});

test('a changed password keeps two-factor and the session of this browser', async () => {
  const { person, cookie } = await enrol();
  const waiting = await half((await enrol()).person);
  const body = { current_password: person.password, new_password: 'a new long password' };
  const changed = await call(cookie, 'PUT', '/person/password', body);
  assert.equal(changed.status, 204);
  assert.notEqual((await sessionOf(waiting)).second_steps, null, 'somebody else’s step is still to be taken');
  assert.equal((await sessionOf(cookieOf(changed.headers))).second_steps, null);
  assert.notEqual((await sessionOf(await enter(person, 'a new long password'))).second_steps, null);
});

test('a temporary password does not replace two-factor, unless the email of the account was never confirmed', async () => {
  for (const isConfirmed of [true, false]) {
    const { person } = await enrol();
    if (!isConfirmed)
      await database.query('update users set email_verified = false where id = $1', [person.userId]);
    const { temporaryPassword } = await setTemporaryPassword(database, person.email);
    const { second_steps } = await sessionOf(await enter(person, temporaryPassword));
    assert.equal(second_steps !== null, isConfirmed);
  }
});

test('changes to two-factor require the password, and removing the app removes its recovery codes', async () => {
  const { person, cookie } = await enrol();
  const wrong = { password: 'not the password' };
  for (const [method, path] of [
    ['DELETE', '/person/totp'],
    ['POST', '/person/totp'],
    ['POST', '/person/recovery-codes'],
  ] as const)
    assert.equal((await call(cookie, method, path, wrong)).status, 422, path);
  const right = { password: person.password };
  assert.equal((await call(cookie, 'POST', '/person/totp', right)).status, 409, 'there is one already');
  const removed = await call(cookie, 'DELETE', '/person/totp', right);
  assert.equal(removed.status, 200);
  const next = cookieOf(removed.headers);
  assert.deepEqual((await call(next, 'GET', '/person/second-factors')).body, {
    totp_since: null,
    recovery_codes_left: 0,
    has_password: true,
    passkeys: [],
  });
  assert.equal((await sessionOf(await half(person))).second_steps, null);
  assert.equal((await call(next, 'DELETE', '/person/totp', right)).status, 404);
  assert.equal((await call(next, 'POST', '/person/recovery-codes', right)).status, 409);
});

test('new recovery codes replace the old ones, and creating them uses one connection of the pool', async () => {
  const { person, cookie, codes } = await enrol();
  const others = await Promise.all(
    Array.from({ length: database.options.max - 1 }, () => database.connect()),
  );
  const renewed = await call<{ recovery_codes: string[] }>(cookie, 'POST', '/person/recovery-codes', {
    password: person.password,
  });
  for (const other of others) other.release();
  assert.equal(renewed.status, 200);
  assert.equal((await step(await half(person), codes[0]!)).status, 422);
  assert.equal((await step(await half(person), renewed.body.recovery_codes[0]!)).status, 204);
});

test('an unconfirmed authenticator app is not required at sign-in, and its setup can start again', async () => {
  const person = await signIn(service);
  const begin = () => person.call<{ secret: string }>('POST', '/person/totp', { password: person.password });
  const former = (await begin()).body.secret;
  const { secret } = (await begin()).body;
  assert.equal((await person.call('PUT', '/person/totp', { code: codeIn(former) })).status, 422);
  assert.equal((await sessionOf(await half(person))).second_steps, null);
  const { password } = person;
  assert.equal((await person.call('DELETE', '/person/totp', { password })).status, 404, 'there is none yet');
  const added = await person.call('PUT', '/person/totp', { code: codeIn(secret) });
  assert.equal(added.status, 200);
  const again = await call(cookieOf(added.headers), 'PUT', '/person/totp', { code: codeIn(secret, 1) });
  assert.equal(again.status, 409, 'there is nothing left to confirm');
});

test('an unconfirmed authenticator app is not required after the last passkey is removed', async () => {
  const { person, cookie } = await withPasskey();
  const sealed = service.services.vault.seal('second factors', newTotpSecret());
  await saveTotpSecret(database, { user_id: person.userId, secret: sealed, now: now() });
  await database.query('delete from recovery_codes where user_id = $1', [person.userId]);
  const { passkeys } = (await call<{ passkeys: { id: string }[] }>(cookie, 'GET', '/person/second-factors'))
    .body;
  const { password } = person;
  const removed = await call(cookie, 'DELETE', `/person/passkeys/${passkeys[0]!.id}`, { password });
  assert.deepEqual([removed.status, removed.body], [200, { recovery_codes: null }]);
  assert.equal((await sessionOf(await half(person))).second_steps, null);
});

test('the list of sessions includes those that wait for two-factor', async () => {
  const { person, cookie } = await enrol();
  await half(person);
  const { data } = (await call<{ data: { is_halfway: boolean }[] }>(cookie, 'GET', '/person/sessions')).body;
  assert.deepEqual(
    data.map(({ is_halfway }) => is_halfway),
    [true, false],
  );
});

test('a person who signs in only with a provider can set up two-factor within ten minutes of signing in', async () => {
  const person = await signIn(service);
  await database.query(
    "update accounts set provider_id = 'oidc', account_id = user_id, password = null where user_id = $1",
    [person.userId],
  );
  const begin = () => person.call('POST', '/person/totp', { password: '-' });
  assert.equal((await begin()).status, 201);
  await database.query("update sessions set created_at = now() - interval '10 minutes' where user_id = $1", [
    person.userId,
  ]);
  assert.equal((await begin()).status, 403);
});

/** Inserts a passkey that cannot sign in. */
async function givePasskey(userId: string, credential_id = newId()): Promise<string> {
  const id = newId();
  const key = { public_key: Buffer.from('none'), algorithm: -7, sign_count: 0, name: 'Spare', now: now() };
  await insertPasskey(database, { user_id: userId, id, credential_id, ...key });
  return id;
}

const rowOf = (userId: string) => ({ text: 'select from users where id = $1 for update', values: [userId] });

test('if two factors are added at the same time, one response has recovery codes; of two simultaneous renewals, one set of codes is valid', async () => {
  const { person, add } = await beginPasskey();
  const secret = newTotpSecret();
  const sealed = service.services.vault.seal('second factors', secret);
  await saveTotpSecret(database, { user_id: person.userId, secret: sealed, now: now() });
  const both = await whileHeld(database, rowOf(person.userId), 2, () =>
    Promise.all([
      person.call<{ recovery_codes: string[] | null }>('PUT', '/person/totp', { code: codeIn(secret) }),
      add(person.cookie),
    ]),
  );
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(both.filter(({ body }) => body.recovery_codes).length, 1);

  const cookie = cookieOf(both.find(({ headers }) => headers.getSetCookie().length > 0)!.headers);
  const renew = () => call(cookie, 'POST', '/person/recovery-codes', { password: person.password });
  const renewed = await whileHeld(database, rowOf(person.userId), 2, () => Promise.all([renew(), renew()]));
  assert.deepEqual(
    renewed.map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await storedOf(person.userId)).codes.length, 10);
});

test('the operator’s reset of two-factor also removes a passkey that is added at the same time', async () => {
  const { person } = await enrol();
  const rescue = () => resetFactors(database, person.email);
  await whileHeld(database, rowOf(person.userId), 1, rescue, (client) =>
    client.query(
      `insert into passkeys (user_id, id, credential_id, public_key, algorithm, sign_count, name, created_at)
       values ($1, $2, 'theirs', '', -7, 0, 'Theirs', now())`,
      [person.userId, newId()],
    ),
  );
  assert.deepEqual((await storedOf(person.userId)).passkeys, []);
  assert.equal((await rescue()).hadAny, false);
  const { rows } = await database.query('select operation from person_lines where user_id = $1', [
    person.userId,
  ]);
  const rescues = rows.filter(({ operation }) => operation === 'forgetSecondFactors');
  assert.equal(rescues.length, 1, 'a person without one gets no email');
});

/** Returns the stored two-factor data and sessions of a person. */
async function storedOf(userId: string) {
  const { rows } = await database.query<Record<'apps' | 'passkeys' | 'codes' | 'sessions', string[]>>(
    `select u.second_factor, array(select t::text from totp_secrets t where t.user_id = u.id) as apps,
            array(select p::text from passkeys p where p.user_id = u.id order by p.id) as passkeys,
            array(select c.hash from recovery_codes c where c.user_id = u.id order by c.hash) as codes,
            array(select s.id from sessions s where s.user_id = u.id order by s.id) as sessions
       from users u where u.id = $1`,
    [userId],
  );
  return rows[0]!;
}

test('a change to one second factor leaves the person’s other factors and other people’s factors unchanged', async () => {
  const other = await enrol();
  await givePasskey(other.person.userId);
  const before = await storedOf(other.person.userId);
  const { person, secret, codes, cookie } = await enrol();
  const { userId: user_id, password } = person;
  assert.equal(codes.length, 10);
  const left = async () =>
    (await call<{ recovery_codes_left: number }>(cookie, 'GET', '/person/second-factors')).body
      .recovery_codes_left;
  assert.equal(await left(), 10);
  const waiting = await half(person);
  assert.deepEqual((await sessionOf(waiting)).second_steps, ['totp', 'recovery_code']);
  assert.equal((await step(waiting, codeIn(secret))).status, 204);

  const [first, second] = [await givePasskey(user_id), await givePasskey(user_id)];
  const stored = (await storedOf(user_id)).passkeys[1];
  await recordPasskeyUse(database, { user_id, id: first, sign_count: 7, now: now() });
  assert.equal((await call(cookie, 'PATCH', `/person/passkeys/${first}`, { name: 'Desk' })).status, 204);
  assert.equal((await storedOf(user_id)).passkeys[1], stored);
  assert.equal((await call(cookie, 'DELETE', `/person/passkeys/${first}`, { password })).status, 200);
  assert.deepEqual((await storedOf(user_id)).passkeys, [stored]);

  assert.equal((await call(cookie, 'POST', '/person/recovery-codes', { password })).status, 200);
  assert.equal((await call(cookie, 'DELETE', `/person/passkeys/${second}`, { password })).status, 200);
  assert.equal((await call(cookie, 'DELETE', '/person/totp', { password })).status, 200);
  assert.equal((await sessionOf(await half(person))).second_steps, null);
  await resetFactors(database, person.email);
  assert.deepEqual(await storedOf(other.person.userId), before);
});

test('a person can have twenty passkeys, whatever others have, and the twenty-first is refused at both steps', async () => {
  const { person, add } = await beginPasskey();
  const stranger = await signIn(service);
  for (const { userId } of [person, stranger])
    for (let index = 1; index < mostPasskeys; index += 1) await givePasskey(userId);
  await givePasskey(person.userId);
  const { password } = person;
  assert.equal((await person.call('POST', '/person/passkey-requests', { password })).status, 409);
  assert.equal((await add(person.cookie)).status, 409);
  const theirs = await beginPasskey(stranger);
  assert.equal((await theirs.add(stranger.cookie)).status, 200, 'their twentieth');
});

test('a passkey needs a name, and one that any account has cannot be added again', async () => {
  const { person, add, id } = await beginPasskey();
  assert.equal((await add(person.cookie, ' ')).status, 422);
  await givePasskey((await signIn(service)).userId, id);
  const taken = await add(person.cookie);
  assert.deepEqual([taken.status, taken.body.message], [409, 'This passkey was already added.']);
});

test('a copy of the database contains no unencrypted secret or recovery code', async () => {
  const { person, secret, codes } = await enrol();
  for (const table of ['totp_secrets', 'recovery_codes']) {
    const { rows } = await database.query(`select * from ${table} where user_id = $1`, [person.userId]);
    const text = JSON.stringify(rows) + rows.map((row: { secret?: Buffer }) => row.secret?.toString()).join();
    for (const clear of [secret, ...codes]) assert.ok(!text.includes(clear));
  }
});

test('two-factor changes are recorded in each workspace of the person, and the operator’s reset names no person', async () => {
  const { person, codes } = await enrol({ name: 'Grace' });
  const opened = cookieOf((await step(await half(person), codes[0]!)).headers);
  assert.equal((await resetFactors(database, ` ${person.email.toUpperCase()}`)).hadAny, true);
  assert.equal((await call(opened, 'GET', '/session')).status, 401);
  const cookie = await half(person);
  assert.equal((await sessionOf(cookie)).second_steps, null);
  const lines = await callConsole<{ data: { operation: string; actor: { kind: string; name: string } }[] }>(
    url,
    cookie,
    'GET',
    '/audit',
    undefined,
    { 'X-Workspace-ID': person.workspaceId },
  );
  assert.deepEqual(
    lines.body.data
      .filter(({ operation }) => operation !== 'signIn')
      .map(({ operation, actor }) => [operation, actor.kind, actor.name]),
    [
      ['forgetSecondFactors', 'operator', null],
      ['takeSecondStep', 'person', 'Grace'],
      ['useRecoveryCode', 'person', 'Grace'],
      ['addAuthenticatorApp', 'person', 'Grace'],
    ],
  );
  await assert.rejects(resetFactors(database, 'unknown@example.org'), { code: 'not_found' });
});

/** Creates a person whose browser has made a passkey that is not added yet. */
async function beginPasskey(person?: ConsolePerson) {
  person ??= await signIn(service);
  const authenticator = openAuthenticator(passkeyOriginOf(service.services.config.publicUrl));
  const begun = await person.call<{ challenge: string; host: string }>('POST', '/person/passkey-requests', {
    password: person.password,
  });
  assert.deepEqual([begun.status, begun.body.host], [201, 'localhost']);
  const registration = authenticator.make(begun.body.challenge);
  const add = (cookie: string, name = 'Laptop') =>
    call<{ recovery_codes: string[] | null; message: string }>(cookie, 'POST', '/person/passkeys', {
      name,
      ...registration,
    });
  const id = Buffer.from(registration.authenticator_data, 'base64url').subarray(55).toString('base64url');
  return { person, authenticator, add, id };
}

/** Creates a person with a passkey and a password as the only sign-in methods. */
async function withPasskey() {
  const { person, authenticator, add } = await beginPasskey();
  const added = await add(person.cookie);
  assert.equal(added.status, 200);
  return { person, authenticator, add, added, cookie: cookieOf(added.headers) };
}

type Shown = Parameters<ReturnType<typeof openAuthenticator>['show']>[1];
async function show(authenticator: ReturnType<typeof openAuthenticator>, otherwise?: Shown, cookie = '') {
  const request = await call<{ challenge: string }>('', 'POST', '/session/passkey-requests');
  const shown = authenticator.show(request.body.challenge, otherwise);
  return { shown, ...(await call<{ error: string }>(cookie, 'POST', '/session/passkey', shown)) };
}

test('a passkey signs in without a password, counts as both steps, and can be the second step', async () => {
  const { person, authenticator, added } = await withPasskey();
  assert.equal(added.body.recovery_codes!.length, 10);
  assert.equal((await person.call('GET', '/session')).status, 401, 'sessions before it have ended');
  const whole = await show(authenticator);
  assert.equal(whole.status, 204);
  assert.equal((await sessionOf(cookieOf(whole.headers))).second_steps, null);

  const waiting = await enter(person);
  assert.deepEqual((await sessionOf(waiting)).second_steps, ['recovery_code', 'passkey']);
  const second = await show(authenticator, undefined, waiting);
  assert.equal((await sessionOf(cookieOf(second.headers))).user.email, person.email);
  assert.equal((await call(waiting, 'GET', '/session')).status, 401);
});

test('a passkey challenge works once, and a signature counter that does not grow reveals a copy', async () => {
  const { authenticator } = await withPasskey();
  const { shown } = await show(authenticator);
  assert.equal((await call('', 'POST', '/session/passkey', shown)).status, 401);
  authenticator.count = 5;
  assert.equal((await show(authenticator)).status, 204);
  authenticator.count = 5;
  assert.equal((await show(authenticator)).status, 401);
  assert.equal((await show(authenticator)).status, 204);
});

test('a passkey does not sign in if it is unknown, unverified, of another site or for a forged challenge', async () => {
  const { authenticator } = await withPasskey();
  const stranger = openAuthenticator(passkeyOriginOf(service.services.config.publicUrl));
  stranger.make('c');
  const answers = [
    await show(stranger),
    await show(authenticator, { challenge: 'made.up.here' }),
    await show(authenticator, { origin: 'https://evil.example' }),
    await show(authenticator, { host: 'evil.example' }),
    await show(authenticator, { flags: 1 }),
  ];
  for (const { status, body, headers } of answers)
    assert.deepEqual([status, body, headers.getSetCookie()], [401, answers[0]!.body, []]);
});

test('a passkey challenge is valid for five minutes, and passkeys do not work while a temporary password is set', async () => {
  const { person, authenticator, cookie } = await withPasskey();
  const { password } = person;
  assert.equal((await call(cookie, 'POST', '/person/recovery-codes', { password })).status, 200);
  const ask = (seconds: number): string => {
    const body = `${newId()}.${Math.floor(Date.now() / 1_000) + seconds}`;
    return `${body}.${service.services.vault.sign('second factors', ['sign-in', ...body.split('.')])}`;
  };
  const answer = (seconds: number) => call('', 'POST', '/session/passkey', authenticator.show(ask(seconds)));
  assert.equal((await answer(0)).status, 401);
  assert.equal((await answer(60)).status, 204);
  await database.query('update users set temporary_until = now() where id = $1', [person.userId]);
  assert.equal((await answer(60)).status, 401);
});

test('a passkey can be added once, only by the person who requested it, and requires the password', async () => {
  const { person, add, cookie, authenticator } = await withPasskey();
  assert.equal((await add(cookie)).status, 400, 'the question was used');
  const wrong = await call(cookie, 'POST', '/person/passkey-requests', { password: 'not the password' });
  assert.equal(wrong.status, 422);
  const other = await signIn(service);
  const theirs = await other.call<{ challenge: string }>('POST', '/person/passkey-requests', {
    password: other.password,
  });
  const registration = authenticator.make(theirs.body.challenge);
  assert.equal(
    (await call(cookie, 'POST', '/person/passkeys', { name: 'Theirs', ...registration })).status,
    400,
  );
  assert.equal((await sessionOf(await half(person))).second_steps?.includes('totp'), false);
});

test('only the owner can list, rename and remove passkeys, and removing the last factor turns two-factor off', async () => {
  const { person, cookie, authenticator } = await withPasskey();
  const list = async () =>
    (await call<{ passkeys: { id: string; name: string }[] }>(cookie, 'GET', '/person/second-factors')).body
      .passkeys;
  const { id } = (await list())[0]!;
  const stranger = await signIn(service);
  const right = { password: stranger.password };
  assert.equal((await stranger.call('PATCH', `/person/passkeys/${id}`, { name: 'Mine' })).status, 404);
  assert.equal((await stranger.call('DELETE', `/person/passkeys/${id}`, right)).status, 404);
  assert.equal((await call(cookie, 'PATCH', `/person/passkeys/${id}`, { name: ' ' })).status, 422);
  assert.equal((await call(cookie, 'PATCH', `/person/passkeys/${id}`, { name: ' Desk ' })).status, 204);
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ['Desk'],
  );
  assert.equal((await call(cookie, 'DELETE', `/person/passkeys/${id}`, { password: 'wrong' })).status, 422);
  assert.equal(
    (await call(cookie, 'DELETE', `/person/passkeys/${id}`, { password: person.password })).status,
    200,
  );
  assert.equal((await show(authenticator)).status, 401);
  assert.equal((await sessionOf(await half(person))).second_steps, null);
});

/** Calls the API in a workspace. */
const inWorkspace = <Body = { message: string }>(
  cookie: string,
  workspaceId: string,
  method: string,
  path: string,
  body?: unknown,
) => callConsole<Body>(url, cookie, method, path, body, { 'X-Workspace-ID': workspaceId });

test('a workspace that requires two-factor is closed to members without it, and API keys still work', async () => {
  const owner = await signIn(service, { name: 'Owner' });
  const { workspaceId } = owner;
  const form = { structure: structure(element('text', 'a')) };
  const created = await owner.api<{ id: string }>('POST', '/forms', form);
  const { body: key } = await owner.api<{ key: string }>('POST', '/keys', { name: 'Data' });
  const member = await signIn(service, { workspaceId, role: 'editor' });
  const own = await member.call<{ id: string }>('POST', '/workspaces', { name: 'Mine' });
  assert.equal(own.status, 403, 'only owners make workspaces');
  assert.equal((await member.api('GET', '/forms')).status, 200);

  const changed = await owner.api<{ second_factor_required: boolean }>('PATCH', '/workspace', {
    second_factor_required: true,
  });
  assert.deepEqual([changed.status, changed.body.second_factor_required], [200, true]);
  for (const [method, path] of [
    ['GET', `/forms/${created.body.id}/locate`],
    ['GET', `/forms/${created.body.id}/arrangement`],
  ] as const)
    assert.equal((await member.call(method, path)).status, 403, path);
  for (const person of [member, owner]) {
    const refused = await person.api('GET', '/forms');
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'This workspace requires two-factor. Set it up in your account first.'],
    );
    assert.deepEqual((await sessionOf(person.cookie)).closed_workspaces, [workspaceId]);
  }
  assert.equal((await callApi(url, key.key, 'GET', '/forms')).status, 200);

  const { secret } = (
    await member.call<{ secret: string }>('POST', '/person/totp', { password: member.password })
  ).body;
  const added = await member.call('PUT', '/person/totp', { code: codeIn(secret) });
  const cookie = cookieOf(added.headers);
  assert.deepEqual((await sessionOf(cookie)).closed_workspaces, []);
  assert.equal((await inWorkspace(cookie, workspaceId, 'GET', '/forms')).status, 200);
  const removed = await call(cookie, 'DELETE', '/person/totp', { password: member.password });
  assert.equal((await inWorkspace(cookieOf(removed.headers), workspaceId, 'GET', '/forms')).status, 403);
});

test('only owners can require two-factor, and only people who manage members see who lacks it', async () => {
  const { person: owner, cookie } = await enrol({ name: 'Owner' });
  const { workspaceId } = owner;
  const admin = await signIn(service, { workspaceId, role: 'admin' });
  const viewer = await signIn(service, { workspaceId, role: 'viewer' });
  const full = await inWorkspace<{ key: string }>(cookie, workspaceId, 'POST', '/keys', {
    name: 'All',
    permissions: ['workspace:read', 'workspace:write'],
  });
  const change = { second_factor_required: true };
  assert.equal((await admin.api('PATCH', '/workspace', change)).status, 403);
  assert.equal((await callApi(url, full.body.key, 'PATCH', '/workspace', change)).status, 403);
  const list = async (person: ConsolePerson) =>
    (await person.api<{ data: { name: string; second_factor: boolean | null }[] }>('GET', '/members')).body
      .data;
  assert.deepEqual(
    (await list(admin)).map(({ second_factor }) => second_factor),
    [true, false, false],
  );
  assert.deepEqual(
    (await list(viewer)).map(({ second_factor }) => second_factor),
    [null, null, null],
  );
  assert.equal((await inWorkspace(cookie, workspaceId, 'PATCH', '/workspace', change)).status, 200);
  assert.equal((await admin.api('GET', '/members')).status, 403);
});
