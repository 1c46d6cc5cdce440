import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { testDatabase } from '#test/database.ts';
import { createKey, listKeys, type NewApiKey, revokeKey } from './keys.ts';
import { createWorkspace } from './workspaces.ts';

const { database } = await testDatabase();
const acme = await createWorkspace(database, { name: 'Acme', plan: 'free' });
const rival = await createWorkspace(database, { name: 'Rival', plan: 'free' });

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

test('a key is displayed once, and no table contains it in plain text', async () => {
  const { key } = await createKey(database, { workspaceId: acme.id, name: 'Secret' });
  const tables = await database.query(
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  assert.ok(tables.rows.length > 10);
  const secret = key.slice(11);
  const hex = Buffer.from(key).toString('hex');
  for (const { table_name: table } of tables.rows) {
    const { rows } = await database.query(`select t::text as row from ${table} t`);
    const leaks = rows.filter(({ row }) => row.includes(secret) || row.includes(hex));
    assert.deepEqual(leaks, [], `table ${table}`);
  }
});

test('a workspace’s keys are listed newest first with prefix, permissions and times', async () => {
  const workspace = await createWorkspace(database, { name: 'Lister', plan: 'free' });
  const expiresAt = new Date('2030-01-01T00:00:00Z');
  const all = await createKey(database, { workspaceId: workspace.id, name: 'All' });
  const some = await createKey(database, {
    workspaceId: workspace.id,
    name: 'Some',
    permissions: ['forms:read', 'submissions:read', 'forms:read'],
    expiresAt,
  });
  await createKey(database, { workspaceId: rival.id, name: 'Foreign' });
  const listed = await listKeys(database, workspace.id);
  assert.deepEqual(
    listed.map(({ created_at, updated_at, ...rest }) => ({
      ...rest,
      made: created_at.getTime() === updated_at.getTime(),
    })),
    [
      {
        id: some.id,
        name: 'Some',
        prefix: some.key.slice(0, 11),
        permissions: ['forms:read', 'submissions:read'],
        expires_at: expiresAt,
        revoked_at: null,
        last_used_at: null,
        last_used_address: null,
        form_ids: null,
        created_by: null,
        maker_role: null,
        former_until: null,
        requests: 0,
        made: true,
      },
      {
        id: all.id,
        name: 'All',
        prefix: all.key.slice(0, 11),
        permissions: null,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
        last_used_address: null,
        form_ids: null,
        created_by: null,
        maker_role: null,
        former_until: null,
        requests: 0,
        made: true,
      },
    ],
  );
});

test('revoking a key again keeps the time of the first revocation', async () => {
  const { id } = await createKey(database, { workspaceId: acme.id, name: 'Old' });
  const first = await revokeKey(database, { workspaceId: acme.id, keyId: id });
  const second = await revokeKey(database, { workspaceId: acme.id, keyId: id });
  assert.deepEqual(second, first);
});

test('a key of another workspace cannot be revoked and gives the same error as an unknown key', async () => {
  const { id } = await createKey(database, { workspaceId: acme.id, name: 'Mine' });
  await assert.rejects(revokeKey(database, { workspaceId: rival.id, keyId: id }), failsWith('not_found'));
  await assert.rejects(
    revokeKey(database, { workspaceId: rival.id, keyId: randomUUID() }),
    failsWith('not_found'),
  );
  assert.equal((await listKeys(database, acme.id)).find((key) => key.id === id)?.revoked_at, null);
});

test('a key for an unknown workspace is refused and leaves no rows', async () => {
  const before = await database.query('select count(*) from api_key_lookup');
  await assert.rejects(
    createKey(database, { workspaceId: randomUUID(), name: 'Nowhere' }),
    failsWith('not_found'),
  );
  assert.deepEqual((await database.query('select count(*) from api_key_lookup')).rows, before.rows);
});

const refused: [what: string, key: Partial<NewApiKey>, fields: string[]][] = [
  ['an empty name', { name: '' }, ['name']],
  ['a blank name', { name: ' \t' }, ['name']],
  ['a name of 101 characters', { name: 'x'.repeat(101) }, ['name']],
  ['a name with NUL', { name: 'a\u0000b' }, ['name']],
  ['a name with half of a surrogate pair', { name: 'a\ud800' }, ['name']],
  ['no permission at all', { permissions: [] }, ['permissions']],
  ['no form at all', { formIds: [] }, ['form_ids']],
  [
    'permissions that do not exist',
    { permissions: ['forms:read', 'forms:*', ''] },
    ['permissions', 'permissions'],
  ],
  ['everything wrong at once', { name: '', permissions: ['all'] }, ['name', 'permissions']],
];

for (const [what, key, fields] of refused) {
  test(`a key with ${what} gives a \`validation_error\``, async () => {
    await assert.rejects(
      createKey(database, { workspaceId: acme.id, name: 'Fine', ...key }),
      failsWith('validation_error', fields),
    );
  });
}

test('a key name can have 100 characters', async () => {
  assert.ok((await createKey(database, { workspaceId: acme.id, name: 'é'.repeat(100) })).id);
});
