import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { checkMigrated, MigrationError, migrate, readMigrations } from './migrate.ts';

const { database } = await testDatabase();
const migrations = await readMigrations();

test('an up-to-date database is not changed', async () => {
  assert.deepEqual(await migrate(database, migrations), []);
});

test('two parallel migrations run each migration once', async () => {
  await database.query('drop schema public cascade');
  await database.query('create schema public');
  const ran = await Promise.all([migrate(database, migrations), migrate(database, migrations)]);
  assert.deepEqual(
    ran.flat().sort(),
    migrations.map((migration) => migration.name),
  );
});

test('a failing migration leaves nothing behind', async () => {
  const broken = {
    number: migrations.length + 1,
    name: '9999_broken.sql',
    checksum: 'x',
    sql: 'create table half_done (id integer); select 1/0',
  };
  await assert.rejects(migrate(database, [...migrations, broken]), /division by zero/);
  const found = await database.query("select to_regclass('half_done') as found");
  assert.equal(found.rows[0].found, null);
});

test('a database newer than this version is rejected, and the error names the newer migration', async () => {
  await assert.rejects(migrate(database, migrations.slice(0, -1)), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /newer than this version/);
    return true;
  });
});

test('a joining process does not change the database: it accepts a database of its version and rejects an older one', async () => {
  await checkMigrated(database, migrations);
  const next = { number: migrations.length + 1, name: '9999_next.sql', checksum: 'x', sql: 'select' };
  await assert.rejects(checkMigrated(database, [...migrations, next]), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /needs to migrate the database \(9999_next\.sql\).*Stop the older version/);
    return true;
  });
  assert.deepEqual(await migrate(database, migrations), [], 'nothing ran');
});

test('a database migrated with different files is rejected', async () => {
  const changed = migrations.map((migration) => ({ ...migration, checksum: 'another' }));
  await assert.rejects(migrate(database, changed), /with different content/);
});
