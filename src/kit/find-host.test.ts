import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { dial, standBefore, startRelay } from '#test/relay.ts';
import { closedPort, until } from '#test/service.ts';
import { isUnavailableError, openDatabase, renewConnections, transaction } from './database.ts';
import { isReadOnlyError, splitDatabaseUrl } from './find-host.ts';
import { openLog } from './log.ts';
import { listenOnChannel } from './queue/announcer.ts';

test('an address with several hosts becomes one address per host, with all other parts unchanged', () => {
  assert.deepEqual(splitDatabaseUrl('postgres://u:p%2C@one:1,[::1]:2,other/db?sslmode=no-verify'), [
    'postgres://u:p%2C@one:1/db?sslmode=no-verify',
    'postgres://u:p%2C@[::1]:2/db?sslmode=no-verify',
    'postgres://u:p%2C@other/db?sslmode=no-verify',
  ]);
  for (const one of ['postgres://u@h:1/db', 'postgres:///db?host=/tmp/a,b', 'postgres://h'])
    assert.deepEqual(splitDatabaseUrl(one), [one]);
});

/** Two databases of one server, with names of equal length, act as two replicated servers. */
const [first, second] = [await testDatabase(), await testDatabase()];
const log = openLog('silent');
const nameOf = (url: string): string => /test_\w+/.exec(url)![0];
const setWritable = async ({ database, url }: typeof first, isWritable: boolean): Promise<void> => {
  await database.query(`alter database ${nameOf(url)} set default_transaction_read_only = ${!isWritable}`);
};

/**
 * Opens a port that serves the database `of` under the name of the first one; `cut` ends its connections. The
 * first one reports a later timeline than the second.
 */
async function hostOf(of: typeof first): Promise<{ port: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const url = await standBefore(first.url, (client) => {
    const upstream = dial(of.url);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => (client.destroy(), upstream.destroy()));
    }
    client.once('data', (greeting: Buffer) => {
      upstream.write(greeting.toString('latin1').replace(nameOf(first.url), nameOf(of.url)), 'latin1');
      client.pipe(upstream).on('data', (chunk: Buffer) => {
        const later = of === first ? chunk.toString('latin1').replace('00000001', '00000002') : chunk;
        client.write(later, 'latin1');
      });
    });
  });
  return {
    port: URL.parse(url)!.port,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const hosts = await Promise.all([first, second].map(hostOf));
/** A host that accepts connections and stays silent; another one refuses connections. */
const dumb = URL.parse(await standBefore(first.url, () => {}))!.port;
const ports = [dumb, String(closedPort), ...hosts.map(({ port }) => port)];
const { username } = URL.parse(first.url)!;
const several = openDatabase(
  {
    connectionString: `postgres://${username}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${nameOf(first.url)}`,
  },
  { pool: 2, log },
);
after(() => several.end());
/** Returns the name of the connected database. */
const askName = async (): Promise<string> =>
  (await several.query<{ name: string }>('select current_database() as name')).rows[0]!.name;

test('the host that accepts writes is used, at any position in the list, and the other one after a failover', async () => {
  await setWritable(first, false);
  const over = new AbortController();
  const payloads: string[] = [];
  const listening = listenOnChannel(several, 'failover', (payload) => payloads.push(payload), {
    log,
    signal: over.signal,
  });
  await until('the first to be listened to', async () => payloads.length === 1);
  assert.equal(await askName(), nameOf(second.url));
  await setWritable(second, false);
  await setWritable(first, true);
  hosts[1]!.cut();
  await until('the connections to be lost', async () => several.totalCount === 0);
  assert.equal(await askName(), nameOf(first.url));
  await until('the other to be listened to', async () => payloads.length === 2);
  await first.database.query("notify failover, 'there'");
  await until('its notification', async () => payloads[2] === 'there');
  over.abort();
  await listening;
});

test('after a server moves, idle connections, returned connections and listeners switch to the new address', async () => {
  const [one, other] = hosts.map(({ port }) => ({ host: '127.0.0.1', port: Number(port) }));
  let at: typeof one;
  let lost = 0;
  const moving = openDatabase(
    { connectionString: `postgres://${username}@127.0.0.1:${hosts[0]!.port}/${nameOf(first.url)}` },
    { pool: 2, log, at: { now: () => at, lost: () => (lost += 1) } },
  );
  after(() => moving.end());
  const nameIn = async (db: Pick<typeof moving, 'query'>): Promise<string> =>
    (await db.query<{ name: string }>('select current_database() as name')).rows[0]!.name;
  const over = new AbortController();
  const payloads: string[] = [];
  const onPayload = (payload: string): unknown => payloads.push(payload);
  const listening = listenOnChannel(moving, 'moved', onPayload, { log, signal: over.signal, askMs: 100 });
  await until('it to listen', async () => payloads.length > 0);
  const [lent, idle] = [await moving.connect(), await moving.connect()];
  idle.release();
  at = other;
  await renewConnections(moving);
  assert.equal(moving.totalCount, 1);
  assert.equal(await nameIn(moving), nameOf(second.url));
  assert.equal(await nameIn(lent), nameOf(first.url));
  lent.release();
  await until('the former connection to be gone', async () => moving.totalCount === 1);
  // On a busy machine a probe may time out: the listener then reconnects and receives the notification again.
  await until('a notification from there', async () => {
    await second.database.query("notify moved, 'there'");
    return payloads.includes('there');
  });
  over.abort();
  await listening;
  at = { host: '127.0.0.1', port: closedPort };
  await renewConnections(moving);
  await assert.rejects(nameIn(moving), isUnavailableError);
  assert.equal(lost, 1);
  at = undefined;
  assert.equal(await nameIn(moving), nameOf(first.url));
});

test('if no host accepts writes, the error gives the reason for each, and no host is queried again immediately', async () => {
  await setWritable(first, false);
  hosts[0]!.cut();
  await until('the connections to be lost', async () => several.totalCount === 0);
  const since = performance.now();
  const [reason, another] = await Promise.all([1, 2].map(() => askName().then(assert.fail, (e: Error) => e)));
  assert.ok(isUnavailableError(reason) && isUnavailableError(another));
  assert.match(
    (reason as Error).message,
    /None of its hosts accepts writes.*ECONNREFUSED.*it is read-only.*it is read-only/,
  );
  assert.ok(performance.now() - since < 5_000);
  await setWritable(second, true);
  const replaced = await until('the next check', () =>
    askName().then(assert.fail, ({ message }: Error) => /it was replaced by another host/.test(message)),
  );
  assert.ok(replaced);
  await setWritable(first, true);
  await until('one to be found', () => askName().catch(() => undefined));
});

test('a session that no longer accepts writes is not reused', async () => {
  const lone = openDatabase({ connectionString: first.url }, { pool: 1, log });
  after(() => lone.end());
  const write = (): Promise<unknown> =>
    transaction(lone, (client) => client.query('create temporary table written ()'));
  const { rows } = await lone.query<{ pid: number }>(
    "select pg_backend_pid() as pid, set_config('default_transaction_read_only', 'on', false)",
  );
  await assert.rejects(
    transaction(lone, (client) => client.query('create table written ()')),
    (error) => isReadOnlyError(error) && isUnavailableError(error),
  );
  await write();
  assert.notDeepEqual((await lone.query('select pg_backend_pid() as pid')).rows[0], { pid: rows[0]!.pid });
});

test('a listener on a silent connection continues on another connection', async () => {
  const relay = await startRelay(first.url);
  const lone = openDatabase({ connectionString: relay.url }, { pool: 1, log });
  after(() => lone.end());
  const over = new AbortController();
  const payloads: string[] = [];
  const onPayload = (payload: string): unknown => payloads.push(payload);
  const listening = listenOnChannel(lone, 'failover', onPayload, { log, signal: over.signal, askMs: 100 });
  await until('it to listen', async () => payloads.length > 0);
  const before = payloads.length;
  relay.silence({ connected: true, next: false });
  await until('it to listen again', async () => payloads.length > before);
  over.abort();
  await listening;
});
