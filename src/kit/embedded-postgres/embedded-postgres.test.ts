import assert from 'node:assert/strict';
import { chown, lstat, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import {
  isRoot,
  makeDirectory,
  makeUsedDirectory,
  ordinary,
  postmasterPid,
  query,
  start,
  startProcess,
} from '#test/kit/postgres-users.ts';
import { locateBinaries } from './binaries.ts';
import { findInaccessibleDirectory } from './machine.ts';
import { findPostmaster } from './postmaster.ts';

test('the first start creates a durable cluster, and a second start finds its data', async (t) => {
  const dataDir = join(await makeDirectory(t), 'data');
  const first = await start({ dataDir, durable: true, settings: { work_mem: '7MB' } });
  assert.equal(first.how, 'started');
  assert.equal(first.directory, join(dataDir, 'postgres'));
  const expected = {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    listen_addresses: '',
    server_encoding: 'UTF8',
    work_mem: '7MB',
    jit: 'off',
    max_connections: '60',
  };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(await query(first.connection, `show ${name}`), value, name);
  }
  assert.equal(
    await query(first.connection, 'select datlocale from pg_database where datname = current_database()'),
    'C.UTF-8',
  );
  assert.equal((await lstat(first.connection.host)).mode & 0o777, 0o700);
  await query(first.connection, 'create table note as select 42 as n');
  await first.stop();
  assert.equal(await findPostmaster(first.directory), undefined);

  const second = await start({ dataDir });
  assert.equal(second.how, 'started');
  assert.equal(await query(second.connection, 'select n from note'), 42);
  await Promise.all([second.stop(), second.stop()]);
});

test('two parallel first starts in a long path with spaces and quotes share one postmaster; only the last stop stops it', {
  skip: isSlice,
}, async (t) => {
  const dataDir = join(await makeDirectory(t), `it's a "long", ${'very '.repeat(20)}path`);
  const users = await Promise.all([startProcess(dataDir), startProcess(dataDir)]);
  const [first, second] = users;
  assert.deepEqual(new Set(users.map((user) => user.report.how)), new Set(['adopted', 'started']));
  const { connection } = first.report;
  assert.ok(connection);
  assert.deepEqual(second.report.connection, connection);
  t.after(() => rm(connection.host, { recursive: true, force: true }));
  assert.match(connection.host, /^\/tmp\/formloom-[0-9a-f]{8}$/);
  assert.equal((await lstat(connection.host)).mode & 0o777, 0o700);
  const pid = await postmasterPid(join(dataDir, 'postgres'));
  const starter = first.report.how === 'started' ? first : second;
  const other = starter === first ? second : first;
  await starter.end();
  assert.equal(await query(connection, 'select 1'), 1);
  assert.equal(await postmasterPid(join(dataDir, 'postgres')), pid);
  await other.end();
  assert.equal(await findPostmaster(join(dataDir, 'postgres')), undefined);
  assert.deepEqual(await readdir(dataDir), ['postgres'], 'no draft is left');
});

test('users that start and stop concurrently never lose the database while they use it', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const visit = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) {
      const postgres = await start({ dataDir });
      assert.equal(await query(postgres.connection, 'select 1'), 1);
      await postgres.stop();
    }
  };
  await Promise.all([visit(), visit(), visit()]);
  assert.equal(await findPostmaster(join(dataDir, 'postgres')), undefined);
});

test('the database runs with a data directory that only its owner can enter', {
  skip: isSlice,
}, async (t) => {
  const hidden = await makeDirectory(t, 0o700);
  const dataDir = join(hidden, 'data');
  const lines: string[] = [];
  const postgres = await start({ dataDir, log: (line) => lines.push(line) });
  await query(postgres.connection, 'create table note as select 42 as n');
  await postgres.stop();
  const again = await start({ dataDir });
  assert.equal(await query(again.connection, 'select n from note'), 42);
  await again.stop();
  if (isRoot) {
    assert.match(postgres.directory, /^\/var\/lib\/formloom\/data-[0-9a-f]{8}$/);
    assert.equal(await realpath(join(dataDir, 'postgres')), postgres.directory);
    assert.match(lines.join('\n'), /cannot enter .*formloom-pg-/);
    await rm(dataDir, { recursive: true });
    const fresh = await start({ dataDir });
    t.after(() => rm(postgres.directory, { recursive: true }));
    assert.equal(fresh.directory, `${postgres.directory}-2`, 'a removed data directory begins anew');
    await fresh.stop();
  } else {
    assert.equal(postgres.directory, join(dataDir, 'postgres'));
  }
});

test('the database runs as an ordinary user', { skip: isSlice }, async (t) => {
  const dataDir = await makeDirectory(t);
  await chown(dataDir, ordinary.uid, ordinary.gid);
  const user = await startProcess(dataDir, ordinary);
  const { root } = await locateBinaries();
  if (await findInaccessibleDirectory(root, { name: 'ordinary', ...ordinary })) {
    assert.equal(user.report.error, 'EmbeddedPostgresError'); // The tests run as root, in a directory that only root can enter.
    assert.match(user.report.message ?? '', /not installed or not readable/);
    return;
  }
  assert.equal(user.report.how, 'started', user.report.message);
  assert.equal((await lstat(join(dataDir, 'postgres'))).uid, ordinary.uid);
  await user.end();
  const asWeAre = await start({ dataDir });
  assert.equal(asWeAre.how, 'started', 'root runs it as its owner');
  await asWeAre.stop();
});

test('a server whose data directory was removed leaves no process after it stops', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeDirectory(t);
  const used = await start({ dataDir });
  const pid = await postmasterPid(used.directory);
  await rm(used.directory, { recursive: true });
  await used.stop();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
