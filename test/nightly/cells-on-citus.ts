import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { migrateCells } from '#cells/cells.ts';
import { findCellNodes } from '#cells/citus.ts';
import { findConnectionCapacity } from '#cells/create-cell.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { readMigrations } from '#kit/migrate.ts';
import { type ClusterNode, openCitusCluster, readHandbook } from '#test/citus-cluster.ts';
import { callConsole } from '#test/console.ts';
import { type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';
import { element, structure } from '../ast/forms.ts';

/*
 * npm run test:long -- cells
 *
 * Needs CITUS_URL, a server on this machine with Citus. Sets up a cluster of three nodes as in the handbook.
 * Moves cells and kills their node while visitors submit. Takes about three minutes.
 */
const visitors = 4;

const cluster = await openCitusCluster(process.env['CITUS_URL']!);
after(() => cluster.close());
const receiver = await openReceiver();
const token = 'a token for metrics';
const instance = await makeInstance({
  DATABASE_URL: cluster.coordinator.url,
  DATABASE_POOL: '8',
  METRICS_TOKEN: token,
  TRUST_PROXY: '1',
});

const database = openDatabase(
  { connectionString: cluster.coordinator.url },
  { pool: 2, log: openLog('silent') },
);
after(() => database.end());
const roomOf = () =>
  findConnectionCapacity(database, 3, { pool: 8, processes: 1, channel: keyChangeChannel });

type CellLine = { name: string; bytes: number | null; node?: string };
const nodeAfter = async (cell: string): Promise<string> =>
  (await findCellNodes(database)).get(`cell_${cell}`)!.node;
const nodeOf = async (cell: string): Promise<string | undefined> =>
  (await instance.cli<{ data: CellLine[] }>('cell list')).data.find(({ name }) => name === cell)?.node;
const workerAt = (node: string | undefined): ClusterNode =>
  cluster.workers.find((worker) => worker.node === node)!;
const otherThan = (node: string | undefined): ClusterNode =>
  cluster.workers.find((worker) => worker.node !== node)!;
/** Returns the node of the cell `second`, and moves the cell `third` to another one. */
async function nodeOfSecond(): Promise<ClusterNode> {
  const node = workerAt(await nodeOf('second'));
  if ((await nodeOf('third')) === node.node)
    await instance.cli('cell move', 'third', '--to', otherThan(node.node).node);
  return node;
}
/** Whether the node has the views of the cell `second`. */
const isNear = async (node: ClusterNode): Promise<boolean> =>
  (await node.query("select from pg_namespace where nspname = 'near_cell_second'")).length === 1;
const formIn = async (cell: string): Promise<PublishedForm> => {
  const { url } = workerAt(await nodeAfter(cell));
  return publishForm({ ...instance, databaseUrl: url }, receiver.url, undefined, `near_cell_${cell}`);
};

type Outcome = { text: string; id: string | undefined; said: string; at: number; ms: number };
/**
 * Sends visitors who submit repeatedly until they leave or the test ends. Collects the response to each
 * request.
 */
function visit(
  context: TestContext,
  form: PublishedForm,
): { outcomes: Outcome[]; leave: () => Promise<unknown> } {
  const outcomes: Outcome[] = [];
  const over = new AbortController();
  const visitor = async (number: number): Promise<void> => {
    for (let entry = 0; !over.signal.aborted; entry += 1) {
      const text = `${performance.now()} ${number}/${entry}`;
      const at = performance.now();
      const outcome = await submitEntry(form.publicUrl, text);
      const said = 'id' in outcome ? '201' : `${outcome.failure}, Retry-After: ${outcome.retryAfter}`;
      outcomes.push({
        text,
        id: 'id' in outcome ? outcome.id : undefined,
        said,
        at,
        ms: performance.now() - at,
      });
      await pause(25);
    }
  };
  const gone = Promise.all(Array.from({ length: visitors }, (_, number) => visitor(number)));
  const leave = (): Promise<unknown> => {
    over.abort();
    return gone;
  };
  context.after(leave);
  return { outcomes, leave };
}

/** Asserts that every acknowledged submission exists once and its webhook was notified. */
async function allThere(form: PublishedForm, outcomes: readonly Outcome[]): Promise<void> {
  const { idsByAnswer } = await form.listAll();
  const acknowledged = outcomes.filter(({ id }) => id !== undefined);
  assert.ok(acknowledged.length > 0);
  const wrong = acknowledged.filter(({ id, text }) => idsByAnswer.get(text)?.join() !== id);
  assert.deepEqual(wrong, [], 'acknowledged, and not there once');
  const told = (): Set<string> =>
    new Set(
      receiver.requests.map(
        ({ body }) => (JSON.parse(body.toString()) as { submission: { id: string } }).submission.id,
      ),
    );
  await until(
    'everything to be delivered',
    () => Promise.resolve(acknowledged.every(({ id }) => told().has(id!))),
    120,
  );
}

const slowest = (outcomes: readonly Outcome[]): number => Math.max(...outcomes.map(({ ms }) => ms));
const failuresOf = (outcomes: readonly Outcome[]): string[] => [
  ...new Set(outcomes.filter(({ id }) => id === undefined).map(({ said }) => said)),
];

/** The response to requests of a cell whose node is down or which is being moved. */
const refused = '503, Retry-After: 1';

const server = await instance.start();
after(() => {
  // Prints the cause of each 500 response.
  for (const line of server.output().split('\n'))
    if (/"level":"?(50|error)/.test(line)) process.stderr.write(`${line}\n`);
});

const metricsOf = async (names: string): Promise<string[] | null> => {
  const answer = await fetch(`${instance.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.text()).match(new RegExp(`^formloom_(${names}) .*$`, 'gm'));
};

test('the commands of the handbook create cells on a cluster, list their nodes and move one', {
  timeout: 600_000,
}, async () => {
  const commands = (await readHandbook('')).join('\n').matchAll(/^npm run -s formloom -- (.*?)(?: +#.*)?$/gm);
  const laid: (string | undefined)[] = [];
  for (const [, line] of commands) {
    const [room, verb, ...rest] = line!.split(' ');
    if (verb === 'move' && (await nodeOf(rest[0]!)) === cluster.workers[1]!.node)
      await instance.cli('cell move', rest[0]!, '--to', cluster.workers[0]!.node);
    const words = rest.map((word) => word.replace('worker-2:5432', cluster.workers[1]!.node));
    await instance.cli(`${room} ${verb}`, ...words);
    if (verb === 'create') laid.push(await nodeOf(rest[0]!));
  }
  assert.deepEqual(laid.toSorted(), cluster.workers.map(({ node }) => node).toSorted());
  assert.equal(await nodeOf('second'), cluster.workers[1]!.node);
  assert.equal(await nodeOf('default'), undefined);
  const { allowed, node, away } = await roomOf();
  assert.deepEqual([allowed, node, away], [198, cluster.workers[1]!.node, []]);
  await assert.rejects(
    instance.cli('cell move', 'second', '--to', 'nowhere:1'),
    new RegExp(`It has ${cluster.workers.map(({ node }) => node).join(', ')}`),
  );
});

/**
 * Signs in.
 * @returns the session cookie.
 */
async function signIn(person: { email: string; password: string }): Promise<string> {
  const { status, headers } = await callConsole(server.url, '', 'POST', '/session', person);
  assert.equal(status, 204);
  return headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
}
test('a cell moves while visitors submit: no acknowledged submission is lost, and it serves again within seconds', {
  timeout: 600_000,
}, async (context) => {
  const form = await formIn('second');
  const from = await nodeOf('second');
  for (const to of [otherThan(from), workerAt(from)]) {
    const { outcomes, leave } = visit(context, form);
    await pause(1_000);
    const begun = performance.now();
    await instance.cli('cell move', 'second', '--to', to.node);
    const moved = performance.now();
    await until('submits to be taken at the other node', async () =>
      outcomes.some(({ at, id }) => id !== undefined && at > moved),
    );
    await until('the connections of the service to be at the node', () => to.isServed());
    await leave();
    const failed = outcomes.filter(({ id }) => id === undefined);
    const times = failed.map(({ at }) => at - begun);
    context.diagnostic(
      `moved in ${((moved - begun) / 1_000).toFixed(1)} s beside ${outcomes.length} submits, of which ${failed.length} were refused, from ${(Math.min(...times) / 1_000).toFixed(1)} to ${(Math.max(...times) / 1_000).toFixed(1)} s; the slowest took ${slowest(outcomes).toFixed(0)} ms`,
    );
    assert.deepEqual(
      failuresOf(outcomes).filter((said) => said !== refused),
      [],
    );
    assert.equal(await nodeOf('second'), to.node);
    assert.deepEqual([await isNear(to), await isNear(otherThan(to.node))], [true, false]);
    await allThere(form, outcomes);
  }
});

test('a move cancelled halfway leaves the cell on its node and can be repeated immediately', {
  timeout: 600_000,
}, async (context) => {
  const from = await nodeOf('second');
  const to = otherThan(from);
  const form = await formIn('second');
  const { outcomes, leave } = visit(context, form);
  // Leaves the remains to the next move. Otherwise Citus cleans up every 15 s.
  const tidyEvery = async (setting: string): Promise<void> => {
    await cluster.coordinator.query(`alter system ${setting}`);
    await cluster.coordinator.query('select pg_reload_conf()');
  };
  context.after(() => tidyEvery('reset citus.defer_shard_delete_interval'));
  await tidyEvery('set citus.defer_shard_delete_interval to -1');
  const moved = instance.begin(['cell', 'move', 'second', '--to', to.node]);
  const ending = `select pg_cancel_backend(pid) from pg_stat_activity
    where query ~ '^select citus_schema_move' and state = 'active'
      and exists (select from pg_dist_cleanup)`;
  await until(
    'Citus to have begun, and to be told to end',
    async () => (await cluster.coordinator.query(ending)).length > 0,
  );
  assert.notEqual((await moved.ended).code, 0);
  assert.equal(await nodeOf('second'), from);
  assert.ok((await cluster.coordinator.query('select from pg_dist_cleanup')).length > 0);
  await instance.cli('cell move', 'second', '--to', to.node);
  assert.equal(await nodeOf('second'), to.node);
  await leave();
  assert.deepEqual(
    failuresOf(outcomes).filter((said) => said !== refused),
    [],
  );
  await allThere(form, outcomes);
});

test('a backup made under load is restored on plain PostgreSQL, with everything acknowledged before it began', {
  timeout: 600_000,
}, async (context) => {
  const forms = [await formIn('second'), await formIn('third')];
  const visits = forms.map((form) => visit(context, form));
  const over = new AbortController();
  context.after(() => over.abort());
  const making = forms.map(async (form) => {
    while (!over.signal.aborted)
      assert.equal(
        (await form.call('POST', '/forms', { structure: structure(element('text', 'entry')) })).status,
        201,
      );
  });
  await pause(2_000);
  const before = performance.now();
  const path = join(instance.dataDir, 'whole.backup');
  const { rows } = await instance.cli<{ rows: number }>('backup', path);
  over.abort();
  await Promise.all([...making, ...visits.map(({ leave }) => leave())]);
  context.diagnostic(`${rows} rows`);
  const plain = await cluster.openPlain();
  const there = await makeInstance({ DATABASE_URL: plain.url });
  await there.cli('restore', path);
  for (const [index, cell] of ['cell_second', 'cell_third'].entries()) {
    const kept = await plain.query<{ id: string }>(
      `select id from ${cell}.submissions where form_id = '${forms[index]!.id}'`,
    );
    const ids = new Set(kept.map(({ id }) => id));
    const missing = visits[index]!.outcomes.filter(
      ({ id, at, ms }) => id !== undefined && at + ms < before && !ids.has(id),
    );
    assert.deepEqual(missing, []);
    // Related rows are from one snapshot: each submission has its event, and the count matches.
    const [{ events, count }] = (await plain.query<{ events: string; count: string }>(
      `select (select count(*) from ${cell}.events where form_id = '${forms[index]!.id}') as events,
              (select sum(count) from ${cell}.submission_counts where form_id = '${forms[index]!.id}') as count`,
    )) as [{ events: string; count: string }];
    assert.deepEqual([Number(events), Number(count)], [ids.size, ids.size]);
  }
});

/** Reads a page and a list repeatedly, as visitors do, and collects the status of each response. */
function read(
  context: TestContext,
  form: PublishedForm,
): { statuses: number[]; leave: () => Promise<unknown> } {
  const statuses: number[] = [];
  const over = new AbortController();
  const reading = async (): Promise<void> => {
    while (!over.signal.aborted) {
      statuses.push((await fetch(form.publicUrl)).status);
      statuses.push((await form.call('GET', `/forms/${form.id}/submissions`)).status);
      await pause(50);
    }
  };
  const gone = reading();
  const leave = (): Promise<unknown> => {
    over.abort();
    return gone;
  };
  context.after(leave);
  return { statuses, leave };
}

test('a node killed under load: its cells answer 503, all others keep working, and no acknowledged submission is lost', {
  timeout: 600_000,
}, async (context) => {
  const lost = await nodeOfSecond();
  context.after(() => lost.start());
  const [form, other] = [await formIn('second'), await formIn('third')];
  const person = { email: 'grace@example.org', password: 'correct horse battery 18' };
  const kept = await instance.cli<{ id: string }>('workspace create', 'Kept', '--cell', 'third');
  await instance.cli(
    'user create',
    '--email',
    person.email,
    '--password',
    person.password,
    '--workspace',
    kept.id,
    '--role',
    'owner',
  );
  const [here, elsewhere, reader] = [visit(context, form), visit(context, other), read(context, other)];
  await pause(2_000);
  const killed = performance.now();
  await lost.kill();
  await pause(5_000);
  const { data: listed } = await instance.cli<{ data: CellLine[] }>('cell list');
  assert.deepEqual(
    listed.map(({ name, bytes }) => [name, bytes !== null]),
    [
      ['default', true],
      ['second', false],
      ['third', true],
    ],
  );
  assert.deepEqual(await metricsOf('database_up|cells_away'), [
    'formloom_database_up 1',
    'formloom_cells_away 1',
  ]);
  const ready = await fetch(`${server.url}/readyz`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready', cells_away: ['second'] }]);
  const cookie = await signIn(person);
  const session = await callConsole<{ workspaces: { name: string }[] }>(
    server.url,
    cookie,
    'GET',
    '/session',
  );
  assert.deepEqual(
    session.body.workspaces.map(({ name }) => name),
    ['Kept'],
  );
  // Every node has a copy of the accounts, so changing one needs all of them.
  const rename = async () =>
    (await callConsole(server.url, cookie, 'PATCH', '/person', { name: 'Grace' })).status;
  assert.equal(await rename(), 503);
  for (const each of ['workspace list', 'key list'])
    await assert.rejects(
      instance.cli(each),
      new RegExp(`The cell second at ${lost.node} does not respond`),
      each,
    );
  await lost.start();
  const back = performance.now();
  await until('submits to be taken again', async () =>
    here.outcomes.some(({ at, id }) => id !== undefined && at > back),
  );
  assert.equal(await rename(), 204);
  await Promise.all([here.leave(), elsewhere.leave(), reader.leave()]);
  const meanwhile = elsewhere.outcomes.filter(({ at, ms }) => at > killed && at + ms < back);
  context.diagnostic(
    `${meanwhile.length} submits elsewhere meanwhile, the slowest in ${slowest(meanwhile).toFixed(0)} ms`,
  );
  assert.deepEqual(failuresOf(here.outcomes), [refused]);
  assert.deepEqual([...new Set(reader.statuses)], [200]);
  assert.ok(meanwhile.length > 0);
  assert.deepEqual(failuresOf(elsewhere.outcomes), []);
  await allThere(form, here.outcomes);
  await allThere(other, elsewhere.outcomes);
});

test('an upgrade changes the tables of cells on their nodes, which then serve again', {
  timeout: 600_000,
}, async () => {
  assert.equal((await server.terminate()).code, 0);
  const sql = 'alter table forms add column remark text';
  const later = { number: 9_999, name: '9999_later.sql', sql, checksum: 'later' };
  const unhurried = openDatabase(
    { connectionString: cluster.coordinator.url },
    { pool: 2, log: openLog('silent'), limits: false },
  );
  assert.deepEqual(await migrateCells(unhurried, [...(await readMigrations()), later]), [later.name]);
  await unhurried.end();
  const node = workerAt(await nodeAfter('third'));
  await node.query('select remark from near_cell_third.forms');
});
