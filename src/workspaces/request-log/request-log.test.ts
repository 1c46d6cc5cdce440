import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { createKey, listKeys } from '../keys.ts';
import { createWorkspace } from '../workspaces.ts';
import { openRequestLog } from './request-log.ts';

const { database } = await testDatabase();
const log = openLog('silent');
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });

async function openKey() {
  const { id: keyId } = await createKey(database, { workspaceId, name: 'Test' });
  const what = { method: 'GET', path: '/api/v1/forms', status: 200, ms: 3, address: '192.0.2.7' };
  return {
    request: () => ({ workspaceId, keyId, id: newId(), at: now(), ...what }),
    read: async () => (await listKeys(database, workspaceId)).find(({ id }) => id === keyId)!,
  };
}

test('when, from where and how often a key was used is noted with its requests', async () => {
  const { request, read } = await openKey();
  assert.equal((await read()).lastUsedAt, null);
  const requests = openRequestLog({ database, log });
  const used = request();
  requests.note(used);
  await requests.stop();
  const { lastUsedAt, lastUsedAddress, requests: counted } = await read();
  assert.deepEqual([lastUsedAt, lastUsedAddress, counted], [used.at, '192.0.2.7', 1]);
});

test('a write that fails loses nothing of a key that is used meanwhile', async () => {
  const { request, read } = await openKey();
  const requests = openRequestLog({ database, log });
  await transaction(database, async (client) => {
    await client.query('lock table api_key_days');
    requests.note(request());
    const pid = await until('the write to wait', async () => {
      const { rows } = await database.query(
        `select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%api_key_days%'`,
      );
      return rows[0]?.pid as number | undefined;
    });
    requests.note(request());
    await client.query('select pg_cancel_backend($1)', [pid]);
  });
  await requests.stop();
  assert.equal((await read()).requests, 2);
});
