import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { makePerson } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { whileHeld } from '#test/while-held.ts';
import { addMember } from '../members.ts';
import { hasPassword } from '../sign-in/require-password.ts';
import { findPasswordHash, updatePasswordHash } from '../sign-in/sign-in.ts';
import { createWorkspace } from '../workspaces.ts';
import { completePasswordReset, createPasswordReset, deleteExpiredResets } from './password-reset.ts';
import { createUser, listForbiddenPasswordWords, setTemporaryPassword } from './users.ts';

const { database } = await testDatabase();
const password = 'correct horse battery';

test('a person gets an email if the operator replaces the password', async () => {
  const [ending, next] = [
    await createWorkspace(database, { name: 'Ending', plan: 'free' }),
    await createWorkspace(database, { name: 'Test', plan: 'free' }),
  ];
  await database.query('update workspaces set ends_at = now() where id = $1', [ending.id]);
  const { id } = await createUser(database, { email: 'told@example.org', password });
  await setTemporaryPassword(database, 'told@example.org');
  const { rows } = await database.query("select workspace_id, payload from jobs where kind = 'mail_news'");
  assert.deepEqual(
    rows,
    [{ workspace_id: next.id, payload: { kind: 'password_changed', userId: id } }],
    'the job lies where jobs go on being done',
  );
});

async function choose(user_id: string): Promise<void> {
  const [found] = await findPasswordHash(database, { user_id });
  const change = { user_id, old: found!.password, password: 'of another one', now: new Date() };
  assert.equal((await updatePasswordHash(database, change)).length, 1);
  assert.equal((await updatePasswordHash(database, change)).length, 0, 'it was changed meanwhile');
}

const changes: [how: string, change: (person: { id: string; email: string }) => Promise<unknown>][] = [
  ['by the person', ({ id }) => choose(id)],
  ['by the operator', ({ email }) => setTemporaryPassword(database, email)],
];

for (const [index, [how, change]] of changes.entries()) {
  test(`a password reset link ends if the password is changed ${how} before it is used`, async () => {
    const email = `ada-${index}@example.org`;
    const { id } = await createUser(database, { email, password });
    const token = (await createPasswordReset(database, email))!;
    await change({ id, email });
    await assert.rejects(
      completePasswordReset(database, { token, password: 'a password of my own' }),
      (error: unknown) => error instanceof ApiError && error.code === 'gone',
    );
  });
}

const gone = { code: 'gone' };
const chosen = 'a password of my own';

test('a reset link is sent at most three times an hour to each address', async () => {
  for (const email of ['often@example.org', 'once@example.org']) await makePerson(database, email);
  const begin = () => createPasswordReset(database, 'often@example.org');
  const former = [await begin(), await begin(), await begin()];
  assert.ok(former.every((token) => token));
  assert.equal(await begin(), undefined);
  assert.ok(await createPasswordReset(database, 'once@example.org'), 'others have links of their own');
  await database.query("update password_resets set created_at = created_at - interval '1 hour'");
  assert.ok(await begin());
});

test('an invalid reset link says so whatever the password, even if it expires while the password is hashed', async () => {
  const email = 'late@example.org';
  await makePerson(database, email);
  const token = (await createPasswordReset(database, email))!;
  await assert.rejects(completePasswordReset(database, { token: 'guess', password: 'short' }), gone);
  const rows = { text: 'select from password_resets for update', values: [] };
  const over = (client: Queryable) => client.query('update password_resets set expires_at = now()');
  const finish = () => completePasswordReset(database, { token, password: chosen }).catch((error) => error);
  assert.equal((await whileHeld(database, rows, 1, finish, over)).code, 'gone');
  await assert.rejects(completePasswordReset(database, { token, password: 'short' }), gone);
});

/** Returns the stored sign-in data of a person. */
async function storedOf(id: string) {
  const { rows } = await database.query(
    `select u.temporary_until, u.email_verified, array(select password from accounts where user_id = u.id) as hashes,
            (select count(*) from sessions where user_id = u.id) as sessions,
            (select count(*) from password_resets where user_id = u.id) as links
       from users u where id = $1`,
    [id],
  );
  return rows[0];
}

test('changing one person’s password leaves the passwords, sessions and links of others unchanged', async () => {
  const [email, others] = ['one@example.org', 'other@example.org'];
  const [id, other] = [await makePerson(database, email), await makePerson(database, others)];
  const link = (await createPasswordReset(database, others))!;
  await database.query('update users set temporary_until = now(), email_verified = false where id = $1', [
    other,
  ]);
  await database.query(
    "insert into sessions (id, user_id, token, expires_at, created_at, updated_at) values ('s', $1, 't', now() + interval '1 day', now(), now())",
    [other],
  );
  const before = await storedOf(other);
  const token = (await createPasswordReset(database, email))!;
  assert.deepEqual(await completePasswordReset(database, { token, password: chosen }), { email });
  assert.equal((await setTemporaryPassword(database, email)).id, id);
  await choose(id);
  assert.deepEqual(await storedOf(other), before);
  await deleteExpiredResets(database, { before: new Date() });
  assert.deepEqual(await completePasswordReset(database, { token: link, password: chosen }), {
    email: others,
  });
});

test('the operator cannot reset the password of a person who has none and signs in with a provider', async () => {
  const email = 'provider@example.org';
  const id = await makePerson(database, email);
  assert.equal(await hasPassword(database, id), true);
  await database.query("update accounts set provider_id = 'oidc', password = null where user_id = $1", [id]);
  assert.equal(await hasPassword(database, id), false);
  await database.query('update users set email_verified = false where id = $1', [id]);
  await database.query("insert into recovery_codes (user_id, hash) values ($1, 'kept')", [id]);
  await assert.rejects(setTemporaryPassword(database, email), { code: 'not_found' });
  const codes = await database.query('select from recovery_codes where user_id = $1', [id]);
  assert.equal(codes.rowCount, 1, 'who is not found keeps their second factor');
});

test('a password may contain the names of other people’s workspaces, but not of one’s own', async () => {
  const ids = [
    await makePerson(database, 'mine@example.org'),
    await makePerson(database, 'theirs@example.org'),
  ];
  for (const [index, id] of ids.entries()) {
    const workspace = await createWorkspace(database, { name: `Acme ${index}`, plan: 'free' });
    await addMember(database, { workspaceId: workspace.id, userId: id, role: 'owner' });
  }
  assert.deepEqual(await listForbiddenPasswordWords(database, ids[1]!), [
    'theirs@example.org',
    'theirs',
    'Acme 1',
  ]);
});
