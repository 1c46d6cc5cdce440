import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { element, structure } from '#ast/testing.ts';
import { findRoom } from '#kit/cells/room.ts';
import { openNearTables, shutNearTables } from '#kit/cells/citus/near.ts';
import { openClient, openDatabase, transaction } from '#kit/database.ts';
import { countedAddress } from '#kit/outbox/address.ts';
import { newId } from '#kit/clock.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { countSentTo } from '#mail/sending/queries.ts';
import { type ClusterNode, handbook, openCitusCluster, readHandbook } from '#test/citus-cluster.ts';
import { callConsole } from '#test/console.ts';
import { publishForm, type PublishedForm, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openProvider, openProviderVisitor, providerSettings } from '#test/provider.ts';
import { openReceiver } from '#test/receiver.ts';
import { freePort, until } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

/*
 * npm run test:cells    where CITUS_URL names a server of this machine that has Citus: a cluster of three nodes of its own, made as
 *                       the handbook says, whose cells are moved and lose their node while visitors submit (about three minutes)
 */
const visitors = 4;
const longestWaitMs = 500;
const longestRefusalMs = 3_000;

const cluster = await openCitusCluster(process.env['CITUS_URL']!);
after(() => cluster.close());
const receiver = await openReceiver();
const token = 'a token for metrics';
const providerPort = await freePort();
/** Workspaces that a provider gives roles in, by their cells. */
const given = [
  { cell: 'second', id: newId() },
  { cell: 'second', id: newId() },
  { cell: 'third', id: newId() },
];
const instance = await makeInstance({
  DATABASE_URL: cluster.coordinator.url,
  DATABASE_POOL: '8',
  METRICS_TOKEN: token,
  TRUST_PROXY: '1',
  ...providerSettings(providerPort),
  OIDC_ROLES: given.flatMap(({ id }) => [`staff=${id}:viewer`, `chiefs=${id}:admin`]).join(),
});
const provider = await openProvider(providerPort, () => instance.url);
const { enter } = openProviderVisitor(
  { url: instance.url, services: { config: { publicUrl: instance.url } } },
  provider,
);
type Entered = Awaited<ReturnType<typeof enter>>;
/** Signs in by the provider, in these groups. */
const enterAs = (name: string, ...groups: string[]): Promise<Entered> =>
  enter({ sub: name, email: `${name}@example.org`, email_verified: true, name, groups });
const rolesOf = async ({ status, session }: Entered): Promise<string[]> => {
  assert.equal(status, 204);
  return (await session()).workspaces.map(({ name, role }) => `${name}: ${role}`).toSorted();
};

const database = openDatabase(
  { connectionString: cluster.coordinator.url },
  { pool: 2, log: openLog('silent') },
);
after(() => database.end());
const roomOf = () => findRoom(database, 3, { pool: 8, processes: 1, channel: keyChannel });

type CellLine = { name: string; bytes: number | null; node?: string };
const nodeOf = async (cell: string): Promise<string | undefined> =>
  (await instance.cli<{ data: CellLine[] }>('cell list')).data.find(({ name }) => name === cell)?.node;
const workerAt = (node: string | undefined): ClusterNode =>
  cluster.workers.find((worker) => worker.node === node)!;
const otherThan = (node: string | undefined): ClusterNode =>
  cluster.workers.find((worker) => worker.node !== node)!;
/** The node of the cell `second`, with the cell `third` on another one. */
async function nodeOfSecond(): Promise<ClusterNode> {
  const node = workerAt(await nodeOf('second'));
  if ((await nodeOf('third')) === node.node)
    await instance.cli('cell move', 'third', '--to', otherThan(node.node).node);
  return node;
}
/** Whether the cell `second` is asked there past Citus. */
const isNear = async (node: ClusterNode): Promise<boolean> =>
  (await node.query("select from pg_namespace where nspname = 'cell_second_near'")).length === 1;
const formIn = (cell: string): Promise<PublishedForm> =>
  publishForm(instance, receiver.url, undefined, `cell_${cell}, public`);

type Outcome = { text: string; id: string | undefined; said: string; at: number; ms: number };
/** Visitors who submit again and again until they are told to leave, or the test is over: what each request was answered with. */
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

/** All that was acknowledged is there once, and its webhook was told. */
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

/** Whoever waits for an event of a form is woken by it. */
async function hearOf(form: PublishedForm): Promise<number> {
  const { id, publicUrl } = form;
  const { next } = (await form.call('GET', `/events?form_id=${id}&after=now`)).body as unknown as {
    next: string;
  };
  const waiting = form.call('GET', `/events?form_id=${id}&after=${next}&wait=30`);
  await pause(500);
  const since = performance.now();
  assert.ok('id' in (await submitEntry(publicUrl, 'heard of')));
  assert.equal((await waiting).body.data.length, 1);
  return performance.now() - since;
}

const server = await instance.start();
after(() => {
  // What was answered with 500 says here why.
  for (const line of server.output().split('\n'))
    if (/"level":"?(50|error)/.test(line)) process.stderr.write(`${line}\n`);
});

const metricsOf = async (names: string): Promise<string[] | null> => {
  const answer = await fetch(`${instance.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.text()).match(new RegExp(`^formloom_(${names}) .*$`, 'gm'));
};

test('the commands of the handbook make cells on a cluster, list their nodes, and move one', {
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

test('metrics are read of all cells of the cluster', { timeout: 600_000 }, async () => {
  assert.deepEqual(await metricsOf('database_up'), ['formloom_database_up 1']);
});

test('how many mails an address got is counted over all cells of the cluster', {
  timeout: 600_000,
}, async (context) => {
  const client = openClient(database);
  context.after(() => client.end());
  await client.connect();
  await client.query('set search_path to every_cell, public');
  const asked = { recipient: countedAddress('ada@example.org'), kinds: ['receipt'], seconds: 60, most: 5 };
  assert.deepEqual(await countSentTo(client, asked), [{ count: 0 }]);
});

/** @returns the cookie of a session that begins. */
async function signIn(person: { email: string; password: string }): Promise<string> {
  const { status, headers } = await callConsole(server.url, '', 'POST', '/session', person);
  assert.equal(status, 204);
  return headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
}
const changePassword = (cookie: string, current: string, next: string) =>
  callConsole(server.url, cookie, 'PUT', '/person/password', {
    current_password: current,
    new_password: next,
  });

test('an operator lets somebody back in on the cluster', { timeout: 600_000 }, async () => {
  const email = 'mary@example.org';
  await instance.cli('user create', '--email', email, '--password', 'correct horse battery 17');
  const given = await instance.cli<{ temporary_password: string }>('user password', '--email', email);
  const cookie = await signIn({ email, password: given.temporary_password });
  const changed = await changePassword(cookie, given.temporary_password, 'correct horse battery 19');
  assert.equal(changed.status, 204);
  await signIn({ email, password: 'correct horse battery 19' });
});

test('a cell is moved while visitors submit: nothing is lost, nobody is refused, and nobody waits for half a second', {
  timeout: 600_000,
}, async (context) => {
  const form = await formIn('second');
  const from = await nodeOf('second');
  /** Of each move the longest, as on a machine that has nothing else to do. */
  const waits: number[] = [];
  for (const to of [otherThan(from), workerAt(from)]) {
    const { outcomes, leave } = visit(context, form);
    await pause(1_000);
    const quiet = slowest(outcomes);
    const before = slowness();
    const begun = performance.now();
    await instance.cli('cell move', 'second', '--to', to.node);
    const took = performance.now() - begun;
    const factor = Math.max(before, slowness());
    await pause(1_000);
    await leave();
    const late = outcomes
      .filter(({ at, ms }) => at + ms > begun)
      .reduce((most, each) => (each.ms > most.ms ? each : most));
    context.diagnostic(
      `moved in ${(took / 1_000).toFixed(1)} s beside ${outcomes.length} submits; the slowest took ${late.ms.toFixed(0)} ms from ${((late.at - begun) / 1_000).toFixed(1)} s on, before the move ${quiet.toFixed(0)} ms; machine × ${factor.toFixed(1)}`,
    );
    assert.deepEqual(failuresOf(outcomes), []);
    waits.push(late.ms / factor);
    assert.equal(await nodeOf('second'), to.node);
    assert.deepEqual([await isNear(to), await isNear(otherThan(to.node))], [true, false]);
    await allThere(form, outcomes);
    await until('the connections of the service to be at the node', () => to.isServed());
    context.diagnostic(`an event was heard of after ${(await hearOf(form)).toFixed(0)} ms`);
  }
  assert.ok(Math.min(...waits) < longestWaitMs, `the slowest took ${waits.join(' and ')} ms`);
});

test('a move that is broken off when Citus has begun goes on, and the service follows', {
  timeout: 600_000,
}, async () => {
  const to = otherThan(await nodeOf('second'));
  const command = instance.begin(['cell', 'move', 'second', '--to', to.node]);
  const moving =
    "select from pg_stat_activity where query ~ '^select citus_schema_move' and state = 'active'";
  await until('Citus to move', async () => (await cluster.coordinator.query(moving)).length === 1);
  await command.kill();
  await until('the cell to be there', async () => (await nodeOf('second')) === to.node);
  await until('the service to be there', () => to.isServed());
  await until('it to ask the cell past Citus', () => isNear(to));
});

test('a move that is broken off in the middle leaves the cell where it is, and may be made again at once', {
  timeout: 600_000,
}, async (context) => {
  const from = await nodeOf('second');
  const to = otherThan(from);
  const form = await formIn('second');
  const { outcomes, leave } = visit(context, form);
  // What is left is left for the next move: Citus else tidies up itself, every 15 s.
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
  assert.deepEqual(failuresOf(outcomes), []);
  await allThere(form, outcomes);
});

test('several may open a cell to be asked past Citus at once', async () => {
  await transaction(database, (client) => shutNearTables(client, 'cell_second'));
  await Promise.all([openNearTables(database), openNearTables(database)]);
  assert.ok(await isNear(workerAt(await nodeOf('second'))));
});

/** As the handbook says it. */
const [tidyUp = ''] =
  /call citus_cleanup_orphaned_resources\(\)/.exec(await readFile(handbook, 'utf8')) ?? [];

test('a move that is none of ours loses nothing: who comes before the service knows of it is answered 503', {
  timeout: 600_000,
}, async (context) => {
  const form = await formIn('second');
  const to = otherThan(await nodeOf('second'));
  assert.ok(await isNear(workerAt(await nodeOf('second'))));
  const { outcomes, leave } = visit(context, form);
  await pause(1_000);
  const [host, port] = to.node.split(':');
  // What the moves before have left behind keeps Citus from this one, for as long as somebody uses it.
  await until('Citus to have tidied up', async () => {
    await cluster.coordinator.query(tidyUp);
    return (await cluster.coordinator.query('select from pg_dist_cleanup')).length === 0;
  });
  await cluster.coordinator.query(
    `select citus_schema_move('cell_second', '${host}', ${port}, 'force_logical')`,
  );
  const moved = performance.now();
  await until(
    'submits to be taken again',
    () => Promise.resolve(outcomes.some(({ id, at }) => id !== undefined && at > moved + 1_000)),
    120,
  );
  context.diagnostic(`taken again after ${((performance.now() - moved) / 1_000).toFixed(1)} s`);
  await pause(1_000);
  await leave();
  assert.deepEqual(
    failuresOf(outcomes).filter((said) => said !== '503, Retry-After: 1'),
    [],
  );
  // As Citus has them: what lay behind at the former node would be gone with it.
  const kept = await cluster.coordinator.query<{ id: string }>(
    `select id from cell_second.submissions where form_id = '${form.id}'`,
  );
  const ids = new Set(kept.map(({ id }) => id));
  assert.deepEqual(
    outcomes.filter(({ id }) => id !== undefined && !ids.has(id)),
    [],
  );
  await allThere(form, outcomes);
});

test('a backup under load is restored on plain PostgreSQL, with all that was acknowledged before it began', {
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
    // What belongs together is of one moment: each has its event, and the count is theirs.
    const [{ events, count }] = (await plain.query<{ events: string; count: string }>(
      `select (select count(*) from ${cell}.events where form_id = '${forms[index]!.id}') as events,
              (select sum(count) from ${cell}.submission_counts where form_id = '${forms[index]!.id}') as count`,
    )) as [{ events: string; count: string }];
    assert.deepEqual([Number(events), Number(count)], [ids.size, ids.size]);
    const [{ forms: made, listed }] = (await plain.query<{ forms: string; listed: string }>(
      `select (select count(*) from ${cell}.forms) as forms,
              (select count(*) from directory d join ${cell}.forms f on d.id = uuid_send(f.id) where '${cell}' = 'cell_' || d.cell) as listed`,
    )) as [{ forms: string; listed: string }];
    context.diagnostic(`${made} forms`);
    assert.ok(Number(made) > 1);
    assert.equal(listed, made);
  }
});

/** Somebody who reads a page and a list again and again, as visitors come: what each was answered with. */
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

test('a role that a provider gives is given in cells at nodes', { timeout: 600_000 }, async () => {
  for (const { cell, id } of given)
    await cluster.coordinator.query(
      `insert into cell_${cell}.workspaces (id, name, plan, created_at) values ('${id}', 'In ${cell}', 'free', now())`,
    );
  assert.deepEqual(await rolesOf(await enterAs('ada', 'staff')), [
    'In second: viewer',
    'In second: viewer',
    'In third: viewer',
  ]);
});

/** What is to be answered with what. */
type Requests = Readonly<Record<string, [answer: unknown, () => Promise<unknown>]>>;

test('a node that hears and says nothing takes its cells along: what asks all cells waits for it for less than 3 s, and all others go on', {
  timeout: 600_000,
}, async (context) => {
  const silent = await nodeOfSecond();
  const [form, other] = [await formIn('second'), await formIn('third')];
  const person = await enterAs('ada', 'staff');
  const account = { email: 'joan@example.org', password: 'correct horse battery 22' };
  await instance.cli('user create', '--email', account.email, '--password', account.password);
  const cookie = await signIn(account);
  const rename = async () =>
    (await callConsole(server.url, cookie, 'PATCH', '/person', { name: 'Joan' })).status;
  assert.equal(await rename(), 204);
  const elsewhere = visit(context, other);
  // More than a pool has connections.
  const many = Array.from({ length: 16 }, () => 503);
  const requests: Requests = {
    'what has to be at each node': [many, () => Promise.all(many.map(rename))],
    'the page of another cell beside it': [200, async () => (await fetch(other.publicUrl)).status],
    'its page': [503, async () => (await fetch(form.publicUrl)).status],
    'with its key': [503, async () => (await form.call('GET', '/forms')).status],
    'who is signed in': [['In third: viewer'], () => rolesOf(person)],
    metrics: [['formloom_database_up 1', 'formloom_cells_away 1'], () => metricsOf('database_up|cells_away')],
    'whether it is ready': [
      [200, { status: 'ready', cells_away: ['second'] }],
      async () => {
        const answer = await fetch(`${server.url}/readyz`);
        return [answer.status, await answer.json()];
      },
    ],
  };
  /** Asks all of them at once: each is answered so, and in time. */
  const ask = async (all: Requests): Promise<void> => {
    const before = slowness();
    const took = await Promise.all(
      Object.entries(all).map(async ([what, [expected, request]]) => {
        const since = performance.now();
        assert.deepEqual(await request(), expected, what);
        return { what, ms: Math.round(performance.now() - since) };
      }),
    );
    context.diagnostic(took.map(({ what, ms }) => `${what}: ${ms} ms`).join(', '));
    const most = longestRefusalMs * Math.max(before, slowness());
    assert.deepEqual(
      took.filter(({ ms }) => ms > most),
      [],
    );
  };
  context.after(() => silent.thaw());
  await silent.freeze();
  await ask(requests);
  await ask(requests);
  await ask({
    'a sign-in that gives roles there': [204, async () => (await enterAs('ada', 'chiefs')).status],
  });
  assert.deepEqual(await rolesOf(person), ['In third: admin']);
  // Nobody could end them: they wait for the node.
  const stuck =
    "select query from pg_stat_activity where state = 'active' and query ~ '^(update|insert into) users'";
  assert.deepEqual(await cluster.coordinator.query(stuck), []);
  silent.thaw();
  await until('no cell to be away', async () => {
    const ready = (await (await fetch(`${server.url}/readyz`)).json()) as object;
    return !('cells_away' in ready);
  });
  assert.deepEqual(await rolesOf(await enterAs('ada', 'chiefs')), [
    'In second: admin',
    'In second: admin',
    'In third: admin',
  ]);
  await elsewhere.leave();
  assert.deepEqual(failuresOf(elsewhere.outcomes), []);
});

test('a node that is killed under load takes its cells along: they answer 503, nobody else is refused, and all that was acknowledged is there when it is back', {
  timeout: 600_000,
}, async (context) => {
  const lost = await nodeOfSecond();
  context.after(() => lost.start());
  const [form, other] = [await formIn('second'), await formIn('third')];
  const person = { email: 'grace@example.org', password: 'correct horse battery 18' };
  const [here, elsewhere, reader] = [visit(context, form), visit(context, other), read(context, other)];
  const [ofLost, kept] = [
    await instance.cli<{ id: string }>('workspace create', 'Lost', '--cell', 'second'),
    await instance.cli<{ id: string }>('workspace create', 'Kept', '--cell', 'third'),
  ];
  const { id: personId } = await instance.cli<{ id: string }>(
    'user create',
    '--email',
    person.email,
    '--password',
    person.password,
    '--workspace',
    ofLost.id,
    '--role',
    'owner',
  );
  await cluster.coordinator.query(
    `insert into cell_third.members (workspace_id, user_id, role, created_at) values ('${kept.id}', '${personId}', 'owner', now())`,
  );
  await pause(2_000);
  const killed = performance.now();
  const readBefore = reader.statuses.length;
  await lost.kill();
  await pause(5_000);
  const readMeanwhile = reader.statuses.length - readBefore;
  const { data: listed } = await instance.cli<{ data: CellLine[] }>('cell list');
  assert.deepEqual(
    listed.map(({ name, bytes }) => [name, bytes !== null]),
    [
      ['default', true],
      ['second', false],
      ['third', true],
    ],
  );
  assert.deepEqual((await roomOf()).away, [lost.node]);
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
  assert.deepEqual(await rolesOf(await enterAs('ada', 'staff')), ['In third: viewer']);
  // What is written to people has to be at each node; a password is not among it.
  assert.equal((await enterAs('barbara', 'staff')).status, 503);
  assert.equal((await callConsole(server.url, cookie, 'PATCH', '/person', { name: 'Grace' })).status, 503);
  const password = 'correct horse battery 20';
  assert.equal((await changePassword(cookie, person.password, password)).status, 204);
  await signIn({ ...person, password });
  // A process that starts now serves what the others serve.
  const late = await instance.start({ PORT: String(await freePort()) });
  const visited = async ({ id }: PublishedForm) =>
    fetch(`${late.url}/f/${id}`).then(({ status, headers }) => [status, headers.get('Content-Type')]);
  assert.deepEqual(await visited(other), [200, 'text/html; charset=utf-8']);
  assert.deepEqual(await visited(form), [503, 'text/html; charset=utf-8']);
  await lost.start();
  const back = performance.now();
  await until('the late process to serve the cell', async () => (await visited(form))[0] === 200);
  assert.equal((await late.terminate()).code, 0);
  await until('what somebody did meanwhile to be known in their workspaces', async () => {
    const lines = await cluster.coordinator.query<{ workspace_id: string }>(
      ['cell_second', 'cell_third']
        .map(
          (cell) =>
            `select workspace_id from ${cell}.audit_lines where operation = 'signIn' and actor_id = '${personId}'`,
        )
        .join(' union all '),
    );
    return [ofLost.id, kept.id].every((id) => lines.some(({ workspace_id }) => workspace_id === id));
  });
  const isTaken = ({ at, id }: Outcome): boolean => id !== undefined && at > back;
  await until('submits to be taken again', () => Promise.resolve(here.outcomes.some(isTaken)));
  const taken = performance.now();
  await pause(1_000);
  await Promise.all([here.leave(), elsewhere.leave(), reader.leave()]);
  const refused = here.outcomes.filter(({ id }) => id === undefined);
  const meanwhile = elsewhere.outcomes.filter(({ at, ms }) => at > killed && at + ms < back);
  context.diagnostic(
    `${here.outcomes.length - refused.length} acknowledged and ${refused.length} refused at the node that was lost, the slowest in ${slowest(refused).toFixed(0)} ms; taken again ${(taken - back).toFixed(0)} ms after it was back; elsewhere ${readMeanwhile} reads and ${meanwhile.length} submits answered meanwhile, the slowest submit in ${slowest(meanwhile).toFixed(0)} ms`,
  );
  assert.deepEqual(failuresOf(here.outcomes), ['503, Retry-After: 1']);
  assert.ok(slowest(refused) < longestRefusalMs * slowness(), `the slowest took ${slowest(refused)} ms`);
  assert.ok(readMeanwhile > 0);
  assert.deepEqual([...new Set(reader.statuses)], [200]);
  assert.ok(meanwhile.length > 0);
  assert.deepEqual(failuresOf(elsewhere.outcomes), []);
  await allThere(form, here.outcomes);
  await allThere(other, elsewhere.outcomes);
});

test('a node that is lost for good is let go of with its cells: these are nowhere, and what asks all cells goes on', {
  timeout: 600_000,
}, async (context) => {
  const lost = await nodeOfSecond();
  context.after(() => lost.start());
  const [form, other] = [await formIn('second'), await formIn('third')];
  const forget = () => instance.cli<object>('cell forget', 'second', '--yes');
  await assert.rejects(forget(), /The cell second answers, and has \d+ workspaces/);
  const visited = async ({ publicUrl }: PublishedForm) => (await fetch(publicUrl)).status;
  assert.equal(await visited(form), 200);
  await lost.kill();
  await until('its cell to be away', async () => (await visited(form)) === 503);
  const named = new RegExp(`The cell second at ${lost.node} does not answer`);
  for (const each of ['workspace list', 'key list', 'instance-key reseal'])
    await assert.rejects(instance.cli(each), named, each);
  const { printed } = await instance.begin(['doctor', '--json']).ended;
  const { data } = JSON.parse(printed) as { data: { check: string; state: string }[] };
  const problems = data.filter(({ state }) => state === 'problem').map(({ check }) => check);
  assert.deepEqual(problems, ['cells'], 'the doctor names the node, and goes on');
  assert.equal(data.at(-1)!.check, 'servers of cells');
  assert.ok('node' in (await instance.cli<{ data: CellLine[] }>('cell list')).data[1]!);
  const makeAccount = () =>
    instance.cli('user create', '--email', 'alan@example.org', '--password', 'correct horse battery 21');
  await forget();
  await assert.rejects(makeAccount(), /connection to the remote node/);
  await until('its cell to be nowhere', async () => (await visited(form)) === 404);
  await instance.cli('workspace list');
  assert.ok('id' in (await submitEntry(other.publicUrl, 'afterwards')));
  const client = openClient(database);
  context.after(() => client.end());
  await client.connect();
  const [host, port] = lost.node.split(':');
  for (const line of (await readHandbook('sql'))[2]!.split(/(?<=;)\n/))
    await client.query(line.replace(/'worker-1', 5432/, `'${host}', ${port}`));
  await makeAccount();
  await instance.cli('cell create', 'second');
  assert.equal(await nodeOf('second'), await nodeOf('third'));
  assert.equal((await server.terminate()).code, 0);
});

test('a migration’s table of the instance is known to every node', { timeout: 600_000 }, async () => {
  const sql = '-- Of the instance\ncreate table made_later (id integer primary key)';
  const later = { number: 9_999, name: '9999_later.sql', sql, checksum: 'later' };
  // Afterwards there is no command of this version any more.
  const node = workerAt(await nodeOf('third'));
  assert.deepEqual(await migrate(database, [...(await readMigrations()), later]), [later.name]);
  await database.query('insert into made_later values (1)');
  assert.deepEqual(await node.query('select id from made_later'), [{ id: 1 }]);
});
