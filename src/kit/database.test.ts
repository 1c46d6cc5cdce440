import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { testDatabase } from '#test/database.ts';
import { isUnavailable, openDatabase, transaction } from './database.ts';
import { openLog } from './log.ts';

const { database, url } = await testDatabase();

/** What PgBouncer takes of a client in its first packet, without being told to ignore more. */
const allowedAtStart = new Set([
  'user',
  'database',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
  'application_name',
  'IntervalStyle',
]);

/** Stands before the server, and ends connections that begin with what PgBouncer refuses. */
async function startPooler(): Promise<{
  port: number;
  refused: string[];
  silence: (options?: { isForAll: boolean }) => void;
}> {
  const refused: string[] = [];
  let isDeaf = false;
  const upstreams = new Set<Socket>();
  const server = createServer((client) => {
    client.once('data', (first) => {
      // Length and protocol version, then names and values in turn, each ended by a zero.
      const words = first.subarray(8).toString('utf8').split('\0');
      const names = words.filter((_, index) => index % 2 === 0).filter(Boolean);
      const others = names.filter((name) => !allowedAtStart.has(name));
      refused.push(...others);
      if (others.length > 0) {
        client.destroy();
        return;
      }
      const upstream = dial();
      upstreams.add(upstream);
      if (isDeaf) return;
      upstream.write(first);
      client.pipe(upstream).pipe(client);
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  /** What is connected now, or also later, gets no word through any more, and is not told. */
  const silence = ({ isForAll = false } = {}): void => {
    isDeaf = isForAll;
    for (const upstream of upstreams) upstream.unpipe();
  };
  return { port: portOf(server), refused, silence };
}

function portOf(server: Server): number {
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** A connection to the server of the tests, on its socket or its port. */
function dial(): Socket {
  const { host, port } = new Client({ connectionString: url });
  return host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host);
}

const settings = `select name, setting from pg_settings
  where name in ('plan_cache_mode', 'statement_timeout', 'idle_in_transaction_session_timeout') order by name`;

test('a session begins as a pooler allows it, and has its plans and limits all the same', async () => {
  const { port, refused } = await startPooler();
  const { user, database: name } = new Client({ connectionString: url });
  const pooled = openDatabase(
    { host: '127.0.0.1', port, user: user!, database: name! },
    { pool: 1, log: openLog('silent') },
  );
  after(() => pooled.end());
  const { rows } = await pooled.query(settings);
  assert.deepEqual(refused, []);
  assert.deepEqual(rows, [
    { name: 'idle_in_transaction_session_timeout', setting: '30000' },
    { name: 'plan_cache_mode', setting: 'force_generic_plan' },
    { name: 'statement_timeout', setting: '10000' },
  ]);
});

test('a connection that goes dead without a word ends its statement, and the next one gets another', {
  timeout: 20_000,
}, async () => {
  const { port, silence } = await startPooler();
  const { user, database: name } = new Client({ connectionString: url });
  const silenceMs = 300;
  const pooled = openDatabase(
    { host: '127.0.0.1', port, user: user!, database: name! },
    { pool: 1, log: openLog('silent'), silenceMs },
  );
  after(() => pooled.end());
  const pid = async (): Promise<unknown> => (await pooled.query('select pg_backend_pid() as pid')).rows[0];
  const first = await pid();
  // One that owes nothing may be silent for as long as it likes.
  await sleep(2 * silenceMs);
  assert.deepEqual(await pid(), first);
  silence();
  await assert.rejects(pooled.query('select 1'), isUnavailable);
  assert.notDeepEqual(await pid(), first);
});

test('a slow statement is waited for while the database answers others; when it answers nobody, no one waits for 3 s', {
  timeout: 20_000,
}, async () => {
  const { port, silence } = await startPooler();
  const { user, database: name } = new Client({ connectionString: url });
  const pooled = openDatabase(
    { host: '127.0.0.1', port, user: user!, database: name! },
    { pool: 2, log: openLog('silent') },
  );
  after(() => pooled.end());
  await pooled.query('select pg_sleep(2.2)');
  silence({ isForAll: true });
  const since = performance.now();
  // On the connection that is there, on a new one, and waiting for one of them.
  const asked = [1, 2, 3].map(() => assert.rejects(pooled.query('select 1'), isUnavailable));
  await Promise.all(asked);
  // 2.5 s where nothing else runs; without the question it would be 12 s.
  assert.ok(performance.now() - since < 5_000);
});

for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns'])
  test(`a moment arrives as PostgreSQL has it, to the millisecond, in a session of ${zone}`, async () => {
    const client = await database.connect();
    try {
      await client.query(`select set_config('TimeZone', $1, false)`, [zone]);
      const { rows } = await client.query<{ at: Date; ms: string }>(
        `select at, trunc(extract(epoch from at) * 1000)::text as ms
           from unnest(array['2026-11-21 19:30:00Z', '2026-11-21 19:30:00.1Z', '2026-02-28 23:59:59.999Z',
                             '1969-12-31 23:59:59.5Z', '2026-11-21 19:30:00.123456Z', '0001-01-02 00:00:00Z',
                             '9998-12-31 23:59:59.001Z', '12026-01-01 00:00:00Z']::timestamptz[]) as at`,
      );
      for (const { at, ms } of rows) assert.equal(at.getTime(), Number(ms));
      const infinite = await client.query<{ at: unknown }>(`select 'infinity'::timestamptz as at`);
      assert.deepEqual(infinite.rows, [{ at: Number.POSITIVE_INFINITY }]);
    } finally {
      client.release(true);
    }
  });

test('a statement is planned once for a connection, whatever its parameters', async () => {
  const client = await database.connect();
  try {
    for (const _ of Array.from({ length: 8 }))
      await client.query({
        name: 'planned_once',
        text: 'select from pg_class where oid = $1::oid',
        values: [1],
      });
    const { rows } = await client.query(
      "select generic_plans::int, custom_plans::int from pg_prepared_statements where name = 'planned_once'",
    );
    assert.deepEqual(rows, [{ generic_plans: 8, custom_plans: 0 }]);
  } finally {
    client.release();
  }
});

test('a connection that is lost between two statements of a transaction ends the transaction, and not the process', {
  timeout: 5_000,
}, async (t) => {
  const uncaught: string[] = [];
  const note = (error: Error): void => void uncaught.push(error.message);
  process.on('uncaughtException', note);
  t.after(() => process.off('uncaughtException', note));
  const lost = transaction(database, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Not `once`, which listens for errors as well.
    const ended = new Promise<void>((resolve) => client.on('end', resolve));
    await database.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await ended;
    await client.query('select 1');
  });
  await assert.rejects(lost, isUnavailable);
  assert.deepEqual(uncaught, []);
  assert.deepEqual((await database.query('select 1 as one')).rows, [{ one: 1 }]);
});
