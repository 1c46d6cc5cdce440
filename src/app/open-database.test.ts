import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '#kit/log.ts';
import { migrationLock } from '#kit/cells/queries.ts';
import { testDatabase } from '#test/database.ts';
import { startRelay } from '#test/relay.ts';
import { until } from '#test/service.ts';
import { startTransactionPooler } from '#test/transaction-pooler.ts';
import { explain } from './explain.ts';
import { describe, openFormloomDatabase } from './open-database.ts';

const { url } = await testDatabase();
const settings = {
  databasePool: 4,
  dataDir: '/nowhere',
  webProcesses: 1,
  secretKey: '3c'.repeat(32),
  valkeyUrl: undefined,
};
const open = (databaseUrl: string) => openFormloomDatabase({ ...settings, databaseUrl }, openLog('silent'));

test('a pooler that shares sessions between transactions is refused, with the remedy', {
  timeout: 20_000,
}, async () => {
  const pooler = await startTransactionPooler(url);
  await assert.rejects(open(pooler), (error: unknown) => {
    assert.match(explain(error), /DATABASE_URL.*transaction.*pool_mode=session/s);
    return true;
  });
  await (await open(url)).close();
});

test('a start says where the database is, when a copy of DATA_DIR would miss it too, and never its password', () => {
  const at = (directory: string) => describe({ dataDir: '/srv/data', databaseUrl: undefined }, { directory });
  assert.equal(at('/srv/data/postgres'), 'PostgreSQL of our own in /srv/data/postgres');
  assert.match(at('/var/lib/formloom/postgres'), /\(outside of DATA_DIR: a backup of that misses it\)$/);
  const databaseUrl = 'postgres://formloom:secret@db.example.com:5433/forms';
  assert.equal(
    describe({ dataDir: '/srv/data', databaseUrl }, undefined),
    'PostgreSQL at db.example.com:5433/forms',
  );
  assert.equal(
    describe({ dataDir: '/srv/data', databaseUrl: 'postgres://u:secret@one,other:5433/forms' }, undefined),
    'PostgreSQL at one,other:5433/forms',
  );
});

test('a migration takes as long as it takes, even while the database takes no connection', {
  timeout: 30_000,
}, async () => {
  const { database: empty, url: ofEmpty } = await testDatabase({ isEmpty: true });
  const other = await empty.connect();
  try {
    // As another process that migrates.
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
    // A connection of the pool is doubted after 1 s and given up after 1.5 s more.
    relay.silence({ connected: false, next: true });
    await Promise.race([opened, sleep(3_000)]);
    relay.silence({ connected: false, next: false });
    await other.query('commit');
    await (await opened).close();
  } finally {
    other.release(true);
  }
});
