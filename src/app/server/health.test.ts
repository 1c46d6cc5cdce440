import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '#kit/config.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { openServer } from '#kit/open-server.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { testDatabase } from '#test/database.ts';
import { healthRoutes } from './server.ts';

const log = openLog('silent');
const { database } = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'formloom-health-'));
after(() => rm(dataDir, { recursive: true }));
const config = readConfig({ DATA_DIR: dataDir });
const storage = openStorage(config);
/** No server listens on this port. */
const away = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/none' }, { pool: 1, log });

async function ask(
  path: string,
  state: { database: typeof database; isStopping: boolean },
): Promise<[number, unknown]> {
  const server = openServer({ log, trustProxy: false });
  healthRoutes(server, { ...state, config, storage, isStopping: () => state.isStopping });
  const { statusCode, body } = await server.inject(path);
  await server.close();
  return [statusCode, JSON.parse(body)];
}

const rows: readonly [name: string, state: Parameters<typeof ask>[1], health: number, ready: number][] = [
  ['all is well', { database, isStopping: false }, 200, 200],
  ['the database is away', { database: away, isStopping: false }, 200, 503],
  ['the service stops', { database, isStopping: true }, 200, 503],
];
for (const [name, state, health, ready] of rows) {
  test(`when ${name}, /healthz answers ${health} and /readyz ${ready}`, async () => {
    assert.deepEqual(await ask('/healthz', state), [health, { status: 'ok' }]);
    const [status, body] = await ask('/readyz', state);
    assert.equal(status, ready);
    assert.deepEqual(Object.keys(body as object), ['status']);
  });
}

test('health responses do not reveal where the database is', async () => {
  const [, body] = await ask('/readyz', { database: away, isStopping: false });
  assert.doesNotMatch(JSON.stringify(body), /127\.0\.0\.1|nobody|ECONN/);
});
