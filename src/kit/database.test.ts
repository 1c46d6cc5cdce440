import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '#test/database.ts';
import { startRelay } from '#test/relay.ts';
import { until } from '#test/service.ts';
import { isUnavailableError, openClient, openDatabase, transaction } from './database.ts';
import { openLog } from './log.ts';
import type { Queryable } from './statement.ts';

const { database, url } = await testDatabase();

/**
 * The parameters that PgBouncer accepts in the first packet of a client without `ignore_startup_parameters`.
 */
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

const settings = `select name, setting from pg_settings
  where name in ('plan_cache_mode', 'statement_timeout', 'idle_in_transaction_session_timeout') order by name`;

test('a session starts with parameters that a pooler allows, and still has its plan and timeout settings', async () => {
  const relay = await startRelay(url);
  const pooled = openDatabase({ connectionString: relay.url }, { pool: 1, log: openLog('silent') });
  after(() => pooled.end());
  const { rows } = await pooled.query(settings);
  // Length and protocol version, then alternating names and values, each terminated by a zero byte.
  const words = relay.greetings.flatMap((first) => first.subarray(8).toString('utf8').split('\0'));
  const names = words.filter((_, index) => index % 2 === 0).filter(Boolean);
  assert.deepEqual(
    names.filter((name) => !allowedAtStart.has(name)),
    [],
  );
  assert.deepEqual(rows, [
    { name: 'idle_in_transaction_session_timeout', setting: '30000' },
    { name: 'plan_cache_mode', setting: 'force_generic_plan' },
    { name: 'statement_timeout', setting: '10000' },
  ]);
});

test('a lost connection is logged, unless its pool is closing, when its server may stop next', async () => {
  const logged: string[] = [];
  const log = openLog(
    'warn',
    new PassThrough().on('data', (line) => logged.push(String(line))),
  );
  const lose = async (isEnding: boolean): Promise<void> => {
    const pooled = openDatabase({ connectionString: url }, { pool: 1, log });
    const client = await pooled.connect();
    client.release();
    const ended = isEnding ? pooled.end() : undefined;
    client.emit('error', new Error('terminating connection due to administrator command'));
    await (ended ?? pooled.end());
  };
  await lose(true);
  assert.deepEqual(logged, []);
  await lose(false);
  assert.match(logged.join(''), /an idle database connection was lost/);
});

test('when the pool ends, waiting and later queries fail as unavailable', async () => {
  const pooled = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent') });
  const client = await pooled.connect();
  const waiting = pooled.query('select');
  const ended = pooled.end();
  client.release();
  await assert.rejects(
    waiting,
    (error: Error) => error.message === 'The database is closed here.' && isUnavailableError(error),
  );
  await assert.rejects(pooled.query('select'), isUnavailableError);
  await ended;
});

test('an idle connection is replaced after its lifetime, but not while it is in use; its cached plans go with it', async () => {
  const pooled = openDatabase(
    { connectionString: url },
    { pool: 1, log: openLog('silent'), lifetimeSeconds: 0.2 },
  );
  after(() => pooled.end());
  const pid = async (by: Queryable): Promise<unknown> =>
    (await by.query('select pg_backend_pid() as pid')).rows[0].pid;
  const lent = await pooled.connect();
  const first = await pid(lent);
  await lent.query('select pg_sleep(0.4)');
  assert.equal(await pid(lent), first);
  lent.release();
  assert.notEqual(await pid(pooled), first);
  await until('the first to end', async () => {
    const { rowCount } = await database.query('select from pg_stat_activity where pid = $1', [first]);
    return rowCount === 0;
  });
});

test('a silent connection ends its statement, and the next statement gets another connection', {
  timeout: 20_000,
}, async () => {
  const relay = await startRelay(url);
  // Longer than a response takes on a busy machine.
  const silenceMs = 1_000;
  const pooled = openDatabase(
    { connectionString: relay.url },
    { pool: 1, log: openLog('silent'), silenceMs },
  );
  after(() => pooled.end());
  const pid = async (): Promise<unknown> => (await pooled.query('select pg_backend_pid() as pid')).rows[0];
  const first = await pid();
  // A connection without a pending statement may stay silent indefinitely.
  await sleep(2 * silenceMs);
  assert.deepEqual(await pid(), first);
  relay.silence({ connected: true, next: false });
  await assert.rejects(pooled.query('select 1'), isUnavailableError);
  assert.notDeepEqual(await pid(), first);
});

test('a missing socket means that the database is unavailable; a missing file does not', async () => {
  const nowhere = { host: '/nowhere', port: 5432, user: 'nobody', database: 'none' };
  const pooled = openDatabase(nowhere, { pool: 1, log: openLog('silent') });
  after(() => pooled.end());
  await assert.rejects(pooled.query('select 1'), isUnavailableError);
  await assert.rejects(readFile('/nowhere/file'), (error) => !isUnavailableError(error));
});

test('a slow statement continues while the database answers other connections; if it answers none, the statement fails within 3 s', {
  timeout: 20_000,
}, async () => {
  const relay = await startRelay(url);
  const pooled = openDatabase({ connectionString: relay.url }, { pool: 2, log: openLog('silent') });
  after(() => pooled.end());
  await pooled.query('select pg_sleep(2.2)');
  relay.silence({ connected: true, next: true });
  const since = performance.now();
  // On the open connection, on a new one, and in the queue for a connection.
  const queries = [1, 2, 3].map(() => assert.rejects(pooled.query('select 1'), isUnavailableError));
  await Promise.all(queries);
  // 2.5 s on an idle machine; without the probe it would be 12 s.
  assert.ok(performance.now() - since < 10_000);
});

for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns'])
  test(`a timestamp has the value of PostgreSQL, to the millisecond, in a session of ${zone}`, async () => {
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

test('a statement is planned once per connection, for all parameters', async () => {
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

test('losing a connection between two statements ends its work, but not the process', {
  timeout: 20_000,
}, async (t) => {
  const uncaught: string[] = [];
  const note = (error: Error): void => void uncaught.push(error.message);
  process.on('uncaughtException', note);
  t.after(() => process.off('uncaughtException', note));
  const lost = transaction(database, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Not `once`, which also listens for errors.
    const ended = new Promise<void>((resolve) => client.on('end', resolve));
    await database.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await ended;
    await client.query('select 1');
  });
  await assert.rejects(lost, isUnavailableError);
  const beside = openClient(database);
  await beside.connect();
  const ended = new Promise<void>((resolve) => beside.on('end', resolve));
  const { rows } = await beside.query<{ pid: number }>('select pg_backend_pid() as pid');
  await database.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
  await ended;
  await assert.rejects(beside.query('select 1'), isUnavailableError);
  assert.deepEqual(uncaught, []);
  assert.deepEqual((await database.query('select 1 as one')).rows, [{ one: 1 }]);
});
