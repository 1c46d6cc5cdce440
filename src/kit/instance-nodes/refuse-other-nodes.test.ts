import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { openDatabase } from '../database.ts';
import { openLog } from '../log.ts';
import { NodeError, nodeName, refuseOtherNodes } from './refuse-other-nodes.ts';

const { url } = await testDatabase();
const valkeyUrl = 'redis://127.0.0.1:1';
const machine = (dataDir: string, isTogether: boolean) => ({
  dataDir,
  valkeyUrl: isTogether ? valkeyUrl : undefined,
});

/** A server's sessions, as long as the calling test runs, and whether it may serve beside the others. */
async function begin(settings: ReturnType<typeof machine>) {
  const database = openDatabase(
    { connectionString: url },
    { pool: 1, log: openLog('silent'), name: nodeName(settings) },
  );
  const ended = { is: false };
  const end = async (): Promise<void> => {
    if (!ended.is) await database.end();
    ended.is = true;
  };
  after(end);
  return {
    start: () => refuseOtherNodes(database, settings, 0.5),
    ask: () => database.query('select 1'),
    end,
  };
}

const beside: [
  what: string,
  one: ReturnType<typeof machine>,
  other: ReturnType<typeof machine>,
  isRefused: boolean,
][] = [
  ['with one Valkey serve together', machine('/a', true), machine('/b', true), false],
  ['of one DATA_DIR serve together', machine('/a', false), machine('/a', false), false],
  ['without a Valkey do not', machine('/a', false), machine('/b', false), true],
  ['of which one has a Valkey do not', machine('/a', true), machine('/b', false), true],
  ['of which the other has a Valkey do not', machine('/a', false), machine('/b', true), true],
];

for (const [what, one, other, isRefused] of beside) {
  test(`two servers ${what}`, async () => {
    const first = await begin(one);
    await first.start();
    const second = await begin(other);
    const asking = setInterval(() => void first.ask(), 50);
    const starting = second.start();
    await (isRefused ? assert.rejects(starting, NodeError) : starting);
    clearInterval(asking);
    await first.end();
    await second.start();
    await second.end();
  });
}

test('the sessions of a machine that is gone keep nobody from starting', async () => {
  const gone = await begin(machine('/a', false));
  await gone.start();
  const heir = await begin(machine('/b', false));
  // Nothing is asked over the connection that is left, as by a machine without power.
  await heir.start();
});
