import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { isUnavailableError, openDatabase } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { permissionNames } from '#rules/permissions.ts';
import { testDatabase } from '#test/database.ts';
import { keyChangeChannel, makeApiKey } from './api-key.ts';
import { authenticateApiKey, clearKeyCache, requirePermission } from './authenticate.ts';
import { createKey, revokeKey, rotateKey, updateKeySettings } from './keys.ts';
import { createWorkspace, setPlan } from './workspaces.ts';

const { database } = await testDatabase();
const context = { database };
const workspace = await createWorkspace(database, { name: 'Acme', plan: 'pro' });
const newKey = (more: { permissions?: string[]; expiresAt?: Date } = {}) =>
  createKey(database, { workspaceId: workspace.id, name: 'Test', ...more });
const bearer = (key: string) => [`Bearer ${key}`];

async function assertUnauthorized(header: string | string[] | undefined): Promise<void> {
  await assert.rejects(authenticateApiKey(context, header), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(error.body, { error: 'unauthorized', message: 'The API key is missing or invalid.' });
    assert.equal(error.headers['WWW-Authenticate'], 'Bearer');
    return true;
  });
}

/** Waits until `isMet`, for as long as a busy machine may need. */
async function until(isMet: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await isMet()); ) {
    assert.ok(Date.now() < deadline, 'the condition was not met within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a key belongs to exactly one workspace and grants full access to its data', async () => {
  const { id, key } = await newKey();
  const { workspaceId, formIds, actor, counted, rate } = await authenticateApiKey(context, bearer(key));
  assert.deepEqual(
    { workspaceId, formIds, actor, counted, rate },
    {
      workspaceId: workspace.id,
      formIds: null,
      actor: { kind: 'key', id },
      counted: workspace.id,
      rate: { perMinute: 300, burst: 30 },
    },
  );
});

test('a missing, malformed or unknown key returns 401 `unauthorized`', async () => {
  await assertUnauthorized(undefined);
  await assertUnauthorized('Bearer x');
  await assertUnauthorized(bearer(makeApiKey(randomBytes(32))));
});

test('a key that was just used returns 401 on the next request of its process after it is revoked', async () => {
  const { id, key } = await newKey();
  await authenticateApiKey(context, bearer(key));
  await revokeKey(database, { workspaceId: workspace.id, keyId: id });
  await assertUnauthorized(bearer(key));
});

test('a revocation is announced to every process and applies within a second even without the announcement', async () => {
  const { id, key } = await newKey();
  const listener = await database.connect();
  const notified = new Promise<string>((resolve) =>
    listener.once('notification', ({ channel }) => resolve(channel)),
  );
  await listener.query(`listen ${keyChangeChannel}`);
  await authenticateApiKey(context, bearer(key));
  const rememberedAt = performance.now();
  // Like a change by another process: the cache of this process is not cleared.
  await database.query('update api_keys set revoked_at = now() where id = $1', [id]);
  await database.query('select pg_notify($1, $2)', [keyChangeChannel, '']);
  assert.equal(await notified, keyChangeChannel);
  listener.release(true);
  let lastTakenMs = 0;
  await until(() => {
    // Measures when the request starts, because the response may take long.
    const ms = performance.now() - rememberedAt;
    return authenticateApiKey(context, bearer(key)).then(
      () => {
        lastTakenMs = ms;
        return false;
      },
      () => true,
    );
  });
  assert.ok(lastTakenMs < 1_000, `taken after ${lastTakenMs} ms`);
});

test('a clock that was a day ahead and is set back does not keep a revoked key cached longer', async (t) => {
  const { id, key } = await newKey();
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start + 86_400_000 });
  await authenticateApiKey(context, bearer(key));
  t.mock.timers.setTime(start);
  await database.query('update api_keys set revoked_at = now() where id = $1', [id]);
  t.mock.timers.reset();
  await until(() =>
    authenticateApiKey(context, bearer(key)).then(
      () => false,
      () => true,
    ),
  );
  await assertUnauthorized(bearer(key));
});

test('a revoked, changed or rotated key is announced to every process', async () => {
  const { id: keyId } = await newKey();
  const place = { workspaceId: workspace.id, keyId };
  for (const change of [
    () => updateKeySettings(database, place, { permissions: ['forms:read'] }),
    () => rotateKey(database, { ...place, graceHours: 0 }),
    () => revokeKey(database, place),
  ]) {
    const listener = await database.connect();
    const notified = new Promise((resolve) =>
      listener.once('notification', ({ payload }) => resolve(payload)),
    );
    await listener.query(`listen ${keyChangeChannel}`);
    await change();
    await database.query('select pg_notify($1, $2)', [keyChangeChannel, 'afterwards']);
    assert.equal(await notified, '');
    listener.release(true);
  }
});

test('an expired key returns 401, even if it expires while it is cached', async (t) => {
  const { key } = await newKey({ expiresAt: new Date('2020-01-01') });
  await assertUnauthorized(bearer(key));
  const soon = new Date(Date.now() + 60_000);
  const remembered = await newKey({ expiresAt: soon });
  assert.equal((await authenticateApiKey(context, bearer(remembered.key))).actor.id, remembered.id);
  t.mock.timers.enable({ apis: ['Date'], now: soon });
  await assertUnauthorized(bearer(remembered.key));
});

test('a key of a deleted workspace returns 401', async () => {
  const other = await createWorkspace(database, { name: 'Gone', plan: 'free' });
  const { key } = await createKey(database, { workspaceId: other.id, name: 'Test' });
  await database.query('delete from workspaces where id = $1', [other.id]);
  await assertUnauthorized(bearer(key));
});

test('a hundred parallel requests with one key query the database once', async (t) => {
  const { key } = await newKey();
  const query = t.mock.method(database, 'query');
  const callers = await Promise.all(
    Array.from({ length: 100 }, () => authenticateApiKey(context, bearer(key))),
  );
  assert.equal(new Set(callers.map(({ actor }) => actor.id)).size, 1);
  const lookups = query.mock.calls.filter(({ arguments: [config] }) =>
    JSON.stringify(config).includes('from api_key_lookup'),
  );
  assert.equal(lookups.length, 1);
});

test('an unavailable database does not return 401, and the next request queries again', async () => {
  const { id, key } = await newKey();
  // Nothing listens on port 1 of this machine.
  const away = openDatabase(
    { connectionString: 'postgres://nobody@127.0.0.1:1/none' },
    { pool: 1, log: openLog('silent') },
  );
  await assert.rejects(authenticateApiKey({ database: away }, bearer(key)), isUnavailableError);
  await away.end();
  assert.equal((await authenticateApiKey(context, bearer(key))).actor.id, id);
});

test('a new plan changes the rate limit of its workspace', async () => {
  const other = await createWorkspace(database, { name: 'Growing', plan: 'free', burst: 3 });
  const { key } = await createKey(database, { workspaceId: other.id, name: 'Test' });
  const before = await authenticateApiKey(context, bearer(key));
  assert.deepEqual([before.rate.perMinute, before.rate.burst], [60, 3]);
  await setPlan(database, { workspaceId: other.id, plan: 'enterprise', rateLimit: 7_000 });
  clearKeyCache();
  const caller = await authenticateApiKey(context, bearer(key));
  assert.deepEqual([caller.rate.perMinute, caller.rate.burst], [7_000, 500]);
});

test('a key without a required permission returns 403 `forbidden` and names the permission', async () => {
  const { key } = await newKey({ permissions: ['forms:read'] });
  const caller = await authenticateApiKey(context, bearer(key));
  requirePermission(caller, 'forms:read');
  assert.throws(
    () => requirePermission(caller, 'forms:write'),
    (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 403);
      assert.deepEqual(error.body, {
        error: 'forbidden',
        message: 'The API key lacks the permission forms:write: Create, change and delete forms.',
      });
      return true;
    },
  );
});

test('a key without a permission list has all data permissions and no administration permissions', async () => {
  const { key } = await newKey();
  const caller = await authenticateApiKey(context, bearer(key));
  const refused = permissionNames.filter((permission) => !caller.may(permission));
  assert.deepEqual(
    refused,
    permissionNames.filter((name) =>
      /^(webhooks|members|keys|workspace|mail|audit|people|everything):/.test(name),
    ),
  );
  assert.ok(refused.length > 0 && caller.may('submissions:write'));
});

test('a key gets administration permissions only if they are listed', async () => {
  const { key } = await newKey({ permissions: ['webhooks:read'] });
  const caller = await authenticateApiKey(context, bearer(key));
  assert.deepEqual(
    permissionNames.filter((permission) => caller.may(permission)),
    ['webhooks:read'],
  );
});
