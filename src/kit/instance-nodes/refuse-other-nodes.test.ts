import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '#test/database.ts';
import { openDatabase } from '../database.ts';
import { openLog } from '../log.ts';
import { formerName, NodeError, readNode, refuseOtherNodes } from './refuse-other-nodes.ts';

const { url } = await testDatabase();
const [a, b] = await Promise.all(['a', 'b'].map((name) => mkdtemp(join(tmpdir(), `formloom-node-${name}-`))));
after(() => Promise.all([a, b].map((each) => rm(each!, { recursive: true }))));
const machine = async (dataDir: string, boot?: string) => readNode({ dataDir, valkeyUrl: undefined }, boot);
type Server = Awaited<ReturnType<typeof machine>>;

/** A server's sessions, as long as the calling test runs, and whether it may serve beside the others. */
async function begin(node: Server, name = node.name, address = url) {
  const database = openDatabase({ connectionString: address }, { pool: 1, log: openLog('silent'), name });
  const ended = { is: false };
  const end = async (): Promise<void> => {
    if (!ended.is) await database.end();
    ended.is = true;
  };
  after(end);
  return {
    // As patient as a busy machine is slow, which may ask nothing for a second.
    start: (more: Parameters<typeof refuseOtherNodes>[2] = {}) =>
      refuseOtherNodes(database, node, { quietSeconds: 2, patienceMs: 30_000, ...more }),
    ask: () => database.query('select 1'),
    end,
  };
}

const here = await machine(a!);
const place = join(b!, 'data');
await mkdir(place);
const contained = await machine(place);
await rename(place, join(b!, 'of another'));
await mkdir(place);
const valkey = await readNode({ dataDir: b!, valkeyUrl: 'redis://127.0.0.1:1' });
const named = `${url}${url.includes('?') ? '&' : '?'}application_name=forms`;
const beside: [
  what: string,
  one: [node: Server, name?: string, address?: string],
  other: Server,
  isRefused: boolean,
][] = [
  ['of one DATA_DIR serve together', [here], await machine(a!), false],
  ['of two directories do not', [here], await machine(b!), true],
  [
    'of two directories at one path, as containers have them, do not',
    [contained],
    await machine(place),
    true,
  ],
  ['on two machines of one name and one copied directory do not', [here], await machine(a!, 'copy'), true],
  ['of which one has a Valkey do not', [valkey], here, true],
  [
    'of which the version before runs one in this directory serve together',
    [here, formerName({ dataDir: a! })],
    here,
    false,
  ],
  ['of which the version before runs one elsewhere do not', [here, formerName({ dataDir: b! })], here, true],
  [
    'of which one has a name for its sessions in DATABASE_URL do not',
    [await machine(b!), (await machine(b!)).name, named],
    here,
    true,
  ],
];

for (const [what, one, other, isRefused] of beside) {
  test(`two servers ${what}`, async () => {
    const first = await begin(...one);
    await first.ask();
    const second = await begin(other);
    const over = new AbortController();
    const asking = (async () => {
      for (; !over.signal.aborted; await sleep(50)) await first.ask();
    })();
    const starting = isRefused
      ? assert.rejects(second.start({ patienceMs: 750 }), NodeError)
      : second.start();
    await starting.finally(() => over.abort());
    await asking;
    await first.end();
    await second.start();
    await second.end();
  });
}

test('the sessions of a machine that is gone keep nobody from starting', async () => {
  const gone = await begin(here);
  await gone.start();
  const heir = await begin(await machine(b!));
  // Nothing is asked over the connection that is left, as by a machine without power.
  await heir.start({ quietSeconds: 0.5 });
});
