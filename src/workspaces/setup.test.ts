import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { testDatabase } from '#test/database.ts';
import { createUser } from './accounts/users.ts';
import { authenticateApiKey } from './authenticate.ts';
import { completeSetup, createSetupToken } from './workspaces.ts';

const { database } = await testDatabase();
const first = {
  email: 'ada@example.org',
  password: 'correct horse',
  workspaceName: 'Acme',
  plan: 'enterprise' as const,
};

const failsWith =
  (code: ErrorCode, fields: string[] = []) =>
  (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, code);
    assert.deepEqual(
      (error.errors ?? []).map((item) => item.field),
      fields,
    );
    return true;
  };

async function countRows(): Promise<Record<string, number>> {
  const { rows } = await database.query(
    `select (select count(*) from users) as users, (select count(*) from accounts) as accounts,
            (select count(*) from workspaces) as workspaces, (select count(*) from members) as members,
            (select count(*) from api_keys) as keys, (select count(*) from setup) as links`,
  );
  return rows[0];
}
const none = { users: 0, accounts: 0, workspaces: 0, members: 0, keys: 0, links: 0 };
const one = { users: 1, accounts: 1, workspaces: 1, members: 1, keys: 1, links: 0 };

beforeEach(() => database.query('delete from users; delete from workspaces; delete from setup'));

test('the setup link creates the first account, which owns the first workspace, with a working key', async () => {
  const token = (await createSetupToken(database))!;
  const setup = await completeSetup(database, { token, ...first });
  const members = await database.query('select workspace_id, user_id, role from members');
  assert.deepEqual(members.rows, [{ workspace_id: setup.workspaceId, user_id: setup.userId, role: 'owner' }]);
  const caller = await authenticateApiKey({ database }, `Bearer ${setup.apiKey}`);
  assert.equal(caller.workspaceId, setup.workspaceId);
  assert.deepEqual(await countRows(), one);
});

test('if two setups run in parallel, one succeeds and the other leaves nothing', async () => {
  const token = (await createSetupToken(database))!;
  const tries = await Promise.allSettled([
    completeSetup(database, { token, ...first }),
    completeSetup(database, { token, ...first, email: 'eve@example.org' }),
  ]);
  assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const lost = tries.find((attempt) => attempt.status === 'rejected');
  failsWith('gone')(lost?.reason);
  assert.deepEqual(await countRows(), one);
});

test('a used setup link returns `gone`, and the next start makes no new one', async () => {
  const token = (await createSetupToken(database))!;
  await completeSetup(database, { token, ...first });
  await assert.rejects(
    completeSetup(database, { token, ...first, email: 'eve@example.org' }),
    failsWith('gone'),
  );
  assert.equal(await createSetupToken(database), undefined);
});

test('a setup token is invalid if the first account was created after it was issued', async () => {
  const token = (await createSetupToken(database))!;
  await createUser(database, { email: 'ada@example.org', password: 'correct horse' });
  await assert.rejects(
    completeSetup(database, { token, ...first, email: 'eve@example.org' }),
    failsWith('gone'),
  );
});

test('each start has a new setup link, and only its hash is stored', async () => {
  const old = (await createSetupToken(database))!;
  const current = (await createSetupToken(database))!;
  assert.notEqual(old, current);
  await assert.rejects(completeSetup(database, { token: old, ...first }), failsWith('gone'));
  const stored = await database.query(
    'select setup::text as row, encode(token_hash, $1) as text from setup',
    ['escape'],
  );
  assert.equal(stored.rows.length, 1);
  assert.ok(!`${stored.rows[0].row}${stored.rows[0].text}`.includes(current));
  assert.ok(await completeSetup(database, { token: current, ...first }));
});

test('a wrong token creates nothing', async () => {
  await createSetupToken(database);
  await assert.rejects(completeSetup(database, { token: 'guess', ...first }), failsWith('gone'));
  await assert.rejects(completeSetup(database, { token: '', ...first }), failsWith('gone'));
  assert.deepEqual(await countRows(), { ...none, links: 1 });
});

test('all problems of the setup data are reported together, and the link stays valid', async () => {
  const token = (await createSetupToken(database))!;
  await assert.rejects(
    completeSetup(database, {
      token,
      email: 'ada',
      password: 'short',
      workspaceName: '',
      plan: 'enterprise' as const,
    }),
    failsWith('validation_error', ['email', 'password', 'workspace_name']),
  );
  assert.deepEqual(await countRows(), { ...none, links: 1 });
  assert.ok(await completeSetup(database, { token, ...first }));
});
