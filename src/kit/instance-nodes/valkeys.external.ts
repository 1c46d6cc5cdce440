import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createClient } from '@redis/client';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { openDatabase } from '../database.ts';
import { openLog } from '../log.ts';
import { NodeError, readNode, refuseOtherNodes, startBeside } from './refuse-other-nodes.ts';

/** Not part of `npm test`: needs a Valkey, whose numbered databases know nothing of each other, as two of them. */
const valkeys = [1, 2].map((number) => `${process.env['VALKEY_TEST_URL']}/${number}`) as [string, string];
const { url } = await testDatabase();
const log = openLog('silent');
const patience = { quietSeconds: 0.5, patienceMs: 3_000 };

/** A server on a machine of its own, with its sessions and its sign in the Valkey, as long as it is not ended. */
async function begin(valkeyUrl: string | undefined) {
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-node-'));
  after(() => rm(dataDir, { recursive: true }));
  const node = await readNode({ dataDir, valkeyUrl });
  const database = openDatabase({ connectionString: url }, { pool: 1, log, name: node.name });
  const parts = new AsyncDisposableStack();
  parts.defer(() => database.end());
  after(() => parts.disposeAsync());
  return {
    async start() {
      await startBeside(database, node, log, patience);
      const counter = await openRequestCounter({ valkeyUrl, log, node: node.name });
      parts.defer(() => counter.close());
      const asking = setInterval(() => void database.query('select 1'), 50);
      parts.defer(() => clearInterval(asking));
    },
    look: () => refuseOtherNodes(database, node, patience),
    end: () => parts.disposeAsync(),
  };
}

test('two servers count in one Valkey, and a third with another one, or with none, is refused as long as they run', async () => {
  const [one, other] = await Promise.all([begin(valkeys[0]), begin(valkeys[0])]);
  await Promise.all([one.start(), other.start()]);
  for (const elsewhere of [valkeys[1], undefined]) {
    const third = await begin(elsewhere);
    await assert.rejects(third.start(), NodeError);
    await third.end();
  }
  await other.end();
  await one.look();
  await one.end();
  const next = await begin(valkeys[1]);
  await next.start();
  await next.end();
});

test('a Valkey that lost all that was in it is the same one still', async () => {
  const one = await begin(valkeys[0]);
  await one.start();
  const client = await createClient({ url: valkeys[0] }).connect();
  await client.flushDb();
  const other = await begin(valkeys[0]);
  await other.start();
  await until('both to be there', async () => (await client.dbSize()) === 2);
  client.destroy();
  await one.look();
  await Promise.all([one.end(), other.end()]);
});

test('a server of the version before, which signs nowhere, serves beside those with a Valkey until it is renewed', async () => {
  const former = openDatabase({ connectionString: url }, { pool: 1, log, name: 'formloom node with Valkey' });
  await former.query('select 1');
  const next = await begin(valkeys[0]);
  await next.start();
  await next.end();
  await former.end();
});
