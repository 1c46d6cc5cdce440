import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { openVault } from '#kit/vault.ts';
import { afterTries, countTimes, makePerson, password } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { createUser, openAccounts } from '../accounts/users.ts';
import { openRequestCounter } from '../request-counter.ts';
import { changePassword, createKnownBrowserToken, signIn, signInTries } from './sign-in.ts';

const { database, url } = await testDatabase();
const vault = openVault('ab'.repeat(32));
const log = openLog('silent');
const surroundings = { database, vault, log, publicUrl: 'http://127.0.0.1:3000' };
const accounts = openAccounts(surroundings);

/** Returns a context with a new counter, as after the wait. */
const openContext = async () => ({
  accounts,
  database,
  vault,
  requestCounter: await openRequestCounter({ valkeyUrl: undefined, log }),
});

const from = (address: string, device?: string) => ({ address, headers: new Headers(), device });

const outcome = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'in';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

const count = (outcomes: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([each, list]) => [each, list.length]));

test('a person with an internationalized email signs in with any spelling of it', async () => {
  const context = await openContext();
  const email = 'jösé@bücher.example';
  await createUser(database, { email: 'Jösé@Bücher.example', password });
  const spellings = [email, ' JÖSÉ@BÜCHER.EXAMPLE ', 'jösé@xn--bcher-kva.example', email.normalize('NFD')];
  for (const [index, spelling] of spellings.entries()) {
    const given = { email: spelling, password };
    assert.equal(await outcome(signIn(context, from(`10.8.0.${index}`), given)), 'in', spelling);
  }
  const wrong = { email, password: 'another password' };
  assert.equal(await outcome(signIn(context, from('10.8.0.9'), wrong)), 'unauthorized');
  const double = createUser(database, { email: 'jösé@xn--bcher-kva.example', password });
  assert.equal(await outcome(double), 'conflict');
  const { rows } = await database.query<{ email: string }>('select email from users where email = $1', [
    email,
  ]);
  assert.equal(rows.length, 1);
});

test('of simultaneous wrong passwords from 200 IP addresses, 10 are checked and the rest must wait', async () => {
  const context = await openContext();
  await makePerson(database, 'many@example.org');
  await afterTries(context.requestCounter, 'many@example.org', signInTries.ofAccount - 2);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      outcome(
        signIn(context, from(`10.0.0.${index}`), { email: 'many@example.org', password: `wrong ${index}` }),
      ),
    ),
  );
  assert.deepEqual(count(outcomes), { unauthorized: 2, rate_limit_exceeded: 198 });
  const blocked = signIn(context, from('10.1.0.1'), { email: 'many@example.org', password });
  await assert.rejects(
    blocked,
    (error) => error instanceof ApiError && error.retryAfter! > 0 && error.retryAfter! <= 60,
  );
  assert.equal(
    await outcome(signIn(await openContext(), from('10.1.0.1'), { email: 'many@example.org', password })),
    'in',
  );
});

test('of 200 accounts tried at the same time from one IP address, 30 are checked', async () => {
  const context = await openContext();
  await countTimes(context.requestCounter, 'sign-in from 10.2.0.1', signInTries.ofAddress - 2);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      outcome(signIn(context, from('10.2.0.1'), { email: `spray-${index}@example.org`, password })),
    ),
  );
  assert.deepEqual(count(outcomes), { unauthorized: 2, rate_limit_exceeded: 198 });
});

test('guessing attempts do not lock the owner out, because a known browser has separate attempts', async () => {
  const context = await openContext();
  await makePerson(database, 'owner@example.org');
  const { device = '' } = await signIn(context, from('10.3.0.1'), { email: 'owner@example.org', password });
  await afterTries(context.requestCounter, 'owner@example.org', signInTries.ofAccount - 2);
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      outcome(signIn(context, from('10.3.0.1'), { email: 'owner@example.org', password: `x${index}` })),
    ),
  );
  assert.equal(
    await outcome(signIn(context, from('10.3.0.1'), { email: 'owner@example.org', password })),
    'rate_limit_exceeded',
  );
  assert.equal(
    await outcome(signIn(context, from('10.3.0.1', device), { email: 'Owner@Example.org', password })),
    'in',
  );
});

test('the mark of a known browser counts only for its account, has a limit and cannot be forged', async () => {
  const context = await openContext();
  for (const email of ['attacker@example.org', 'victim@example.org']) await makePerson(database, email);
  const device = createKnownBrowserToken(vault, 'attacker@example.org');
  await afterTries(context.requestCounter, 'victim@example.org', signInTries.ofAccount - 2);
  await countTimes(
    context.requestCounter,
    `sign-in from ${device.split('.', 1)[0]!}`,
    signInTries.ofAccount - 2,
  );
  const tryAll = (email: string, mark: string) =>
    Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        outcome(signIn(context, from(`10.4.1.${index}`, mark), { email, password: `x${index}` })),
      ),
    );
  assert.deepEqual(count(await tryAll('victim@example.org', device)), {
    unauthorized: 2,
    rate_limit_exceeded: 38,
  });
  assert.deepEqual(count(await tryAll('attacker@example.org', device)), {
    unauthorized: 2,
    rate_limit_exceeded: 38,
  });
  const forged = device.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const context2 = await openContext();
  await afterTries(context2.requestCounter, 'victim@example.org', signInTries.ofAccount - 1);
  await outcome(signIn(context2, from('10.4.2.1', forged), { email: 'victim@example.org', password: 'x' }));
  assert.equal(
    await outcome(signIn(context2, from('10.4.2.2'), { email: 'victim@example.org', password: 'x' })),
    'rate_limit_exceeded',
  );
});

test('a wrong password, an unknown email and an invalid email get the same error', async () => {
  const context = await openContext();
  await makePerson(database, 'known@example.org');
  const bodies = await Promise.all(
    ['known@example.org', 'unknown@example.org', 'nonsense', ''].map((email, index) =>
      signIn(context, from(`10.5.0.${index}`), { email, password: 'wrong password' }).catch(
        (error: ApiError) => error.body,
      ),
    ),
  );
  for (const body of bodies)
    assert.deepEqual(body, { error: 'unauthorized', message: 'The email address or password is wrong.' });
});

const sessionOf = (cookies: readonly string[]) => {
  const headers = new Headers({ Cookie: cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ') });
  return { headers, find: async () => (await accounts.library()).auth.api.getSession({ headers }) };
};

const begin = async (userId: string) =>
  sessionOf(await (await accounts.library()).beginSession(userId, null, new Headers()));

test('signing in ends the previous session of the browser and never reuses it', async () => {
  const context = await openContext();
  const id = await makePerson(database, 'rotate@example.org');
  const first = await begin(id);
  assert.ok(await first.find());
  const again = await signIn(
    context,
    { ...from('10.7.0.1'), headers: first.headers },
    { email: 'rotate@example.org', password },
  );
  const second = sessionOf(again.cookies);
  assert.notEqual(second.headers.get('Cookie'), first.headers.get('Cookie'));
  assert.equal(await first.find(), null);
  assert.ok(await second.find());
});

test('a changed password ends every other session and invalidates the old password', async () => {
  const context = await openContext();
  const id = await makePerson(database, 'change@example.org');
  const enter = () => signIn(context, from('10.8.0.1'), { email: 'change@example.org', password });
  const [here, elsewhere] = [await begin(id), await begin(id)];
  const person = { userId: id, headers: here.headers, mustChangePassword: false };
  const refused = changePassword(context, person, { current: 'not it', next: 'a new long password' });
  await assert.rejects(
    refused,
    (error) => error instanceof ApiError && error.errors?.[0]?.field === 'current_password',
  );
  const short = changePassword(context, person, { current: password, next: 'short' });
  await assert.rejects(
    short,
    (error) => error instanceof ApiError && error.errors?.[0]?.field === 'new_password',
  );
  assert.ok(await elsewhere.find());

  const renewed = sessionOf(
    await changePassword(context, person, { current: password, next: 'a new long password' }),
  );
  assert.ok(await renewed.find());
  assert.equal(await here.find(), null);
  assert.equal(await elsewhere.find(), null);
  assert.equal(await outcome(enter()), 'unauthorized');
});

test('a password can be changed while the users table is read-only, and a temporary one is replaced fully or not at all', async () => {
  const context = await openContext();
  const [chosen, given] = ['chosen@lost.example.org', 'given@lost.example.org'];
  const id = await makePerson(database, chosen);
  const newcomer = await makePerson(database, given);
  await database.query("update users set temporary_until = now() + interval '1 hour' where id = $1", [
    newcomer,
  ]);
  // Simulates a cluster where a node with a copy of the table does not respond.
  await database.query(`
    create function lose() returns trigger language plpgsql as $$ begin
      raise exception 'connection to the remote node failed' using errcode = '08006'; end $$;
    create trigger lose before update on users for each statement execute function lose()`);
  const next = 'a new long password';
  try {
    const person = { userId: id, headers: (await begin(id)).headers, mustChangePassword: false };
    await changePassword(context, person, { current: password, next });
    const { headers, find } = await begin(newcomer);
    await assert.rejects(
      changePassword(
        context,
        { userId: newcomer, headers, mustChangePassword: true },
        { current: password, next },
      ),
      { code: '08006' },
    );
    assert.ok(await find(), 'the session is still there');
  } finally {
    await database.query('drop function lose cascade');
  }
  const enter = (email: string, known: string) =>
    outcome(signIn(context, from('10.9.0.1'), { email, password: known }));
  assert.equal(await enter(chosen, next), 'in');
  assert.equal(await enter(given, password), 'in');
});

test('more people than there are connections can change temporary passwords at once without blocking each other', async () => {
  const few = openDatabase({ connectionString: url }, { pool: 2, log });
  const people = await Promise.all(
    [1, 2, 3, 4].map((each) => makePerson(database, `new-${each}@example.org`)),
  );
  await database.query("update users set temporary_until = now() + interval '1 hour' where id = any($1)", [
    people,
  ]);
  const context = {
    ...(await openContext()),
    database: few,
    accounts: openAccounts({ ...surroundings, database: few }),
  };
  const next = 'a new long password';
  await Promise.all(
    people.map(async (userId) =>
      changePassword(
        context,
        { userId, headers: (await begin(userId)).headers, mustChangePassword: true },
        { current: password, next },
      ),
    ),
  );
  const { rowCount } = await database.query(
    'select from users where id = any($1) and temporary_until is null',
    [people],
  );
  assert.equal(rowCount, 4);
  await few.end();
});

test('while the database is unavailable, no password is reported as wrong', async () => {
  const away = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/nothing' }, { pool: 1, log });
  const context = {
    ...(await openContext()),
    accounts: openAccounts({ database: away, vault, log, publicUrl: 'http://127.0.0.1:3000' }),
  };
  const id = await makePerson(database, 'away@example.org');
  const { headers } = await begin(id);
  const works = [
    signIn(context, from('10.10.0.1'), { email: 'away@example.org', password }),
    changePassword(
      context,
      { userId: id, headers, mustChangePassword: false },
      { current: password, next: 'a new long password' },
    ),
  ];
  for (const work of works) await assert.rejects(work, (error) => !(error instanceof ApiError));
  await away.end();
});

test('of 50 simultaneous guesses at the current password, 10 are checked', async () => {
  const context = await openContext();
  const id = await makePerson(database, 'stolen@example.org');
  const { headers } = await begin(id);
  await countTimes(context.requestCounter, `password of ${id}`, signInTries.ofAccount - 2);
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      outcome(
        changePassword(
          context,
          { userId: id, headers, mustChangePassword: false },
          { current: `x${index}`, next: 'a new long password' },
        ),
      ),
    ),
  );
  assert.deepEqual(count(outcomes), { validation_error: 2, rate_limit_exceeded: 48 });
});
