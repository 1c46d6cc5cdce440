import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '#kit/log.ts';
import { migrationLock } from '#kit/migrate.ts';
import { testDatabase } from '#test/database.ts';
import { startRelay } from '#test/relay.ts';
import { until } from '#test/service.ts';
import { startTransactionPooler } from '#test/transaction-pooler.ts';
import { explainError } from './explain.ts';
import { describeLocation, openFormloomDatabase } from './open-database.ts';

const { url } = await testDatabase();
const settings = {
  databasePool: 4,
  dataDir: '/nowhere',
  webProcesses: 1,
  secretKey: '3c'.repeat(32),
  valkeyUrl: undefined,
};
const open = (databaseUrl: string) => openFormloomDatabase({ ...settings, databaseUrl }, openLog('silent'));

test('a pooler that shares sessions between transactions is rejected with the remedy', {
  timeout: 20_000,
}, async () => {
  const pooler = await startTransactionPooler(url);
  await assert.rejects(open(pooler), (error: unknown) => {
    assert.match(explainError(error), /DATABASE_URL.*transaction.*pool_mode=session/s);
    return true;
  });
  await (await open(url)).close();
});

test('a start logs where the database is, warns if DATA_DIR does not contain it, and never shows its password', () => {
  const at = (directory: string) =>
    describeLocation({ dataDir: '/srv/data', databaseUrl: undefined }, { directory });
  assert.equal(at('/srv/data/postgres'), 'Embedded PostgreSQL in /srv/data/postgres');
  assert.match(
    at('/var/lib/formloom/postgres'),
    /\(outside DATA_DIR: copies of DATA_DIR do not include it\)$/,
  );
  const databaseUrl = 'postgres://formloom:secret@db.example.com:5433/forms';
  assert.equal(
    describeLocation({ dataDir: '/srv/data', databaseUrl }, undefined),
    'PostgreSQL at db.example.com:5433/forms',
  );
  assert.equal(
    describeLocation(
      { dataDir: '/srv/data', databaseUrl: 'postgres://u:secret@one,other:5433/forms' },
      undefined,
    ),
    'PostgreSQL at one,other:5433/forms',
  );
});

test('a migration may take any time, even while the database accepts no connections', {
  timeout: 30_000,
}, async () => {
  const { database: empty, url: ofEmpty } = await testDatabase({ isEmpty: true });
  const other = await empty.connect();
  try {
    // As another process that runs migrations.
    await other.query('begin');
    await other.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const relay = await startRelay(ofEmpty);
    const opened = open(relay.url);
    await until('a migration that waits', async () => {
      const { rows } = await other.query(
        `select from pg_locks join pg_database on pg_database.oid = pg_locks.database
         where datname = current_database() and locktype = 'advisory' and not granted`,
      );
      return rows.length > 0;
    });
    // The pool tests a silent connection after 1 s, and closes it after another 1.5 s.
    relay.silence({ connected: false, next: true });
    await Promise.race([opened, sleep(3_000)]);
    relay.silence({ connected: false, next: false });
    await other.query('commit');
    await (await opened).close();
  } finally {
    other.release(true);
  }
});

const socket = new URL(url).searchParams.get('host');
const name = new URL(url).pathname.slice(1);
const user = new URL(url).username;

test('both URL forms of libpq reach the socket of a database', async (t) => {
  if (socket === null) return t.skip('the database is not reached by a socket');
  const directory = encodeURIComponent(socket);
  for (const address of [
    `postgresql:///${name}?host=${socket}&user=${user}`,
    `postgresql://${user}@${directory}/${name}`,
  ])
    await (await open(address)).close();
});

const web = createServer((_request, response) => response.end('no database'));
web.listen(0, '127.0.0.1');
await once(web, 'listening');
after(() => web.close());
const webPort = (web.address() as AddressInfo).port;

const failures: readonly [why: string, address: string, sentence: RegExp][] = [
  ['a server without TLS', withParameter(url, 'sslmode', 'require'), /does not support SSL.*remove sslmode/],
  ['an unknown database', url.replace(`/${name}`, '/nowhere'), /"nowhere" does not exist.*createdb/],
  [
    'an unknown user',
    url.replace(`${user}@`, 'nobody-here@'),
    /"nobody-here" does not exist.*Correct the user name/,
  ],
  [
    'a port where nothing listens',
    'postgres://u@127.0.0.1:1/db',
    /ECONNREFUSED 127\.0\.0\.1:1\. Start PostgreSQL/,
  ],
  ['a name with several addresses', 'postgres://u@localhost:1/db', /ECONNREFUSED .*:1.* Start PostgreSQL/],
  ['a name that does not resolve', 'postgres://u@nope.invalid/db', /nope\.invalid.*Correct the host name/],
  ['a socket that is not there', 'postgresql://u@%2Fnowhere/db', /ENOENT \/nowhere.*path of its socket/],
  ['a server that is no PostgreSQL', `postgres://u@127.0.0.1:${webPort}/db`, /DATABASE_URL/],
  [
    'a server that is no PostgreSQL, by TLS',
    `postgres://u@127.0.0.1:${webPort}/db?sslmode=require`,
    /DATABASE_URL/,
  ],
];

function withParameter(address: string, parameter: string, value: string): string {
  const changed = new URL(address);
  changed.searchParams.set(parameter, value);
  return changed.href;
}

for (const [why, address, sentence] of failures)
  test(`a start on ${why} is rejected in one line with the remedy`, async () => {
    await assert.rejects(open(address), (error: unknown) => {
      assert.match(explainError(error), sentence);
      assert.doesNotMatch(explainError(error), /\n/);
      return true;
    });
  });
