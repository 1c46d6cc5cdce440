import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { testDatabase } from '#test/database.ts';
import { readRows } from '#test/read-rows.ts';
import { untilOneWaits, whileHeld, whileTableHeld } from '#test/while-held.ts';
import { listRequestsOfKey } from './key-endpoints.ts';
import { createKey, listKeys } from './keys.ts';
import { insertRequests, keptRequests, openRequestLog, trimRequests } from './request-log.ts';
import { createWorkspace } from './workspaces.ts';

const { database } = await testDatabase();
const log = openLog('silent');
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });

async function openKey() {
  const { id: keyId } = await createKey(database, { workspaceId, name: 'Test' });
  const what = {
    workspaceId,
    keyId,
    method: 'GET',
    path: '/api/v1/forms',
    status: 200,
    ms: 3,
    address: '192.0.2.7',
  };
  return {
    keyId,
    request: () => ({ id: newId(), at: now(), ...what }),
    read: async () => (await listKeys(database, workspaceId)).find(({ id }) => id === keyId)!,
  };
}

test('the request log records when, from where and how often a key was used', async () => {
  const { request, read } = await openKey();
  assert.equal((await read()).last_used_at, null);
  const requests = openRequestLog({ database, log });
  const used = request();
  requests.note(used);
  await requests.stop();
  const { last_used_at, last_used_address, requests: counted } = await read();
  assert.deepEqual([last_used_at, last_used_address, counted], [used.at, '192.0.2.7', 1]);
});

test('a failed write loses no request of a key, whether or not the key is used again', async () => {
  const { request, read } = await openKey();
  const quiet = await openKey();
  const requests = openRequestLog({ database, log });
  await whileTableHeld(database, 'api_key_days', async (client) => {
    requests.note(request());
    requests.note(quiet.request());
    const pid = await untilOneWaits(database, 'api_key_days');
    requests.note(request());
    await client.query('select pg_cancel_backend($1)', [pid]);
  });
  await requests.stop();
  assert.deepEqual([(await read()).requests, (await quiet.read()).requests], [2, 1]);
});

/** Returns how many requests and days are kept of a key. */
async function keptOf(keyId: string): Promise<[requests: number, days: number]> {
  const { rows } = await database.query(
    `select (select count(*)::int from api_requests where api_key_id = $1) as requests,
            (select count(*)::int from api_key_days where api_key_id = $1) as days`,
    [keyId],
  );
  return [rows[0].requests, rows[0].days];
}

test('the latest hundred requests and the latest days of a key are kept, independent of other keys', async () => {
  const [older, busy, other] = [await openKey(), await openKey(), await openKey()];
  const times = [
    [older, 3],
    [other, 150],
    [busy, 120],
  ] as const;
  for (const [{ request, keyId }, many] of times) {
    const ids = Array.from({ length: many }, newId);
    await database.query(
      `insert into api_requests select $1, $2, id, 'GET', '/', 200, 1, now() from unnest($3::uuid[]) as given (id)`,
      [request().workspaceId, keyId, ids],
    );
    await database.query(
      `insert into api_key_days select $1, $2, current_date - age, 1 from unnest('{1,90}'::int[]) as given (age)`,
      [request().workspaceId, keyId],
    );
  }
  const requests = openRequestLog({ database, log });
  for (const { request } of [older, busy]) requests.note(request());
  await requests.stop();
  assert.deepEqual(
    [await keptOf(older.keyId), await keptOf(busy.keyId), await keptOf(other.keyId)],
    [
      [4, 2],
      [100, 2],
      [150, 2],
    ],
  );
  assert.equal((await other.read()).last_used_at, null);
  const listed = await listRequestsOfKey(database, {
    workspace_id: workspaceId,
    key_id: older.keyId,
    limit: 100,
  });
  assert.equal(listed.length, 4);
});

test('a key that is deleted before or during a write does not block the requests of other keys', async () => {
  const [gone, going, stays] = [await openKey(), await openKey(), await openKey()];
  await database.query('delete from api_keys where id = $1', [gone.keyId]);
  const requests = openRequestLog({ database, log });
  for (const { request } of [gone, going, stays]) requests.note(request());
  const deletion = { text: 'delete from api_keys where id = $1', values: [going.keyId] };
  await whileHeld(database, deletion, 1, () => requests.stop());
  assert.equal((await stays.read()).requests, 1);
  assert.deepEqual(await keptOf(stays.keyId), [1, 1]);
});

test('at most a thousand keys wait to be recorded, even after a failed write', async () => {
  const { request, read } = await openKey();
  const first = await openKey();
  const others = (many: number) => Array.from({ length: many }, () => ({ ...request(), keyId: newId() }));
  const requests = openRequestLog({ database, log });
  for (const each of [...others(1_000), request()]) requests.note(each);
  await requests.stop();
  assert.equal((await read()).requests, 0);

  const failing = openRequestLog({ database, log });
  await whileTableHeld(database, 'api_key_days', async (client) => {
    failing.note(first.request());
    const pid = await untilOneWaits(database, 'api_key_days');
    for (const each of others(1_000)) failing.note(each);
    await client.query('select pg_cancel_backend($1)', [pid]);
  });
  await failing.stop();
  assert.equal((await first.read()).requests, 0);
});

test('requests over the limit are found once per key, not once per request', async () => {
  const { keyId, request } = await openKey();
  const requests = Array.from({ length: 2 * keptRequests }, request);
  await transaction(database, async (client) => {
    await insertRequests(client, {
      workspace_ids: requests.map((each) => each.workspaceId),
      key_ids: requests.map((each) => each.keyId),
      ids: requests.map((each) => each.id),
      methods: requests.map((each) => each.method),
      paths: requests.map((each) => each.path),
      statuses: requests.map((each) => each.status),
      durations: requests.map((each) => each.ms),
      times: requests.map((each) => each.at),
    });
    const before = await readRows(client, 'api_requests');
    await trimRequests(client, {
      workspace_ids: [workspaceId],
      key_ids: [keyId],
      kept: keptRequests,
      before: '2000-01-01',
    });
    const read = (await readRows(client, 'api_requests')) - before;
    assert.ok(read <= 10 * keptRequests, `${read} rows were read`);
  });
  assert.equal(
    (await listRequestsOfKey(database, { workspace_id: workspaceId, key_id: keyId, limit: 1_000 })).length,
    keptRequests,
  );
});
