import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { isSlice } from '#test/cases.ts';
import {
  children,
  makeDirectory,
  makeUsedDirectory,
  poll,
  postmasterPid,
  query,
  spawnUser,
  start,
  startProcess,
} from '#test/kit/postgres-users.ts';
import { serverLockKey } from './acquire-server.ts';
import { findPostgresAccount } from './machine.ts';
import { findPostmaster } from './postmaster.ts';

test('a start after kill -9 of the parent adopts the running postmaster', async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const parent = await startProcess(dataDir);
  assert.equal(parent.report.how, 'started');
  const pid = await postmasterPid(join(dataDir, 'postgres'));
  await parent.kill();
  const heir = await start({ dataDir });
  assert.equal(heir.how, 'adopted');
  assert.equal(await postmasterPid(heir.directory), pid);
  const users = `select count(*) from pg_stat_activity where application_name like 'formloom user %'`;
  await poll('the session of the dead to end', async () => (await query(heir.connection, users)) === '1');
  await heir.stop();
  assert.equal(await findPostmaster(heir.directory), undefined, 'the heir is the last user and stops it');
});

test('a process admitted while the database shuts down starts a new server', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const parent = await startProcess(dataDir);
  const { connection } = parent.report;
  assert.ok(connection);
  const pid = await postmasterPid(join(dataDir, 'postgres'));
  await parent.kill();
  // Replays the exit of the last user in slow motion: it holds the lock alone, signals the server, then
  // closes its connection.
  const leaver = new Client({ ...connection, database: 'postgres' });
  await leaver.connect();
  await leaver.query('select pg_advisory_lock($1)', [serverLockKey]);
  const coming = start({ dataDir });
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
  await poll('the newcomer to wait', async () => (await leaver.query(waiting)).rowCount === 1);
  process.kill(pid, 'SIGTERM'); // A "smart" shutdown leaves sessions open, so the newcomer's session would outlive the leaver's.
  await poll(
    'the end to begin',
    async () => (await findPostmaster(join(dataDir, 'postgres')))?.status === 'stopping',
  );
  await leaver.end();
  const postgres = await coming;
  assert.equal(await query(postgres.connection, 'select 1'), 1);
  assert.notEqual(await postmasterPid(postgres.directory), pid);
  await postgres.stop();
});

test('kill -9 of postmaster and parent during writes: every acknowledged row exists after a start', async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const parent = await startProcess(dataDir);
  const { connection } = parent.report;
  assert.ok(connection);
  await query(connection, 'create table note (n int)');
  const writer = new Client(connection);
  writer.on('error', () => undefined);
  await writer.connect();
  let acknowledged = 0;
  const writing = (async () => {
    for (;;) {
      await writer.query('insert into note values (1)');
      acknowledged++;
    }
  })();
  await poll('300 rows', async () => acknowledged >= 300);
  process.kill(await postmasterPid(join(dataDir, 'postgres')), 'SIGKILL');
  await Promise.all([parent.kill(), assert.rejects(writing)]);
  await writer.end();

  const heir = await start({ dataDir, durable: true });
  const found = Number(await query(heir.connection, 'select count(*) from note'));
  assert.ok(found >= acknowledged, `${found} rows of ${acknowledged} acknowledged`);
  await heir.stop();
});

for (const how of ['started', 'adopted'] as const) {
  test(`a postmaster that was ${how} restarts with its rows after kill -9`, {
    skip: isSlice && how === 'adopted',
  }, async (t) => {
    const dataDir = await makeUsedDirectory(t);
    const parent = how === 'adopted' ? await startProcess(dataDir) : undefined;
    const lines: string[] = [];
    const postgres = await start({
      dataDir,
      durable: false,
      log: (line) => lines.push(line),
    });
    assert.equal(postgres.how, how);
    await parent?.kill();
    await query(postgres.connection, 'create table note as select 42 as n');
    const pid = await postmasterPid(postgres.directory);
    process.kill(pid, 'SIGKILL');
    await poll('the restart', async () =>
      lines.some((line) => line.includes('is available again (started)')),
    );
    assert.equal(await query(postgres.connection, 'select n from note'), 42);
    assert.notEqual(await postmasterPid(postgres.directory), pid);
    await postgres.stop();
    assert.equal(await findPostmaster(postgres.directory), undefined);
  });
}

test('a stop right after kill -9 of the postmaster leaves no server behind', { skip: isSlice }, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const postgres = await start({ dataDir });
  process.kill(await postmasterPid(postgres.directory), 'SIGKILL');
  await postgres.stop();
  // A killed process takes a moment to end: on a busy machine it can outlive its connections.
  await poll('no server', async () => (await findPostmaster(postgres.directory)) === undefined);
});

test('a process ID that another program now has does not prevent the database from starting', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const parent = await startProcess(dataDir);
  const directory = join(dataDir, 'postgres');
  process.kill(await postmasterPid(directory), 'SIGKILL');
  await parent.kill();
  const account = await findPostgresAccount();
  const other = spawn('sleep', ['60'], account ? { uid: account.uid, gid: account.gid } : {});
  children.add(other);
  await once(other, 'spawn');
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const record = await readFile(join(directory, name), 'utf8');
    await writeFile(join(directory, name), record.replace(/^\d+/, String(other.pid)));
  }
  const postgres = await start({ dataDir });
  assert.equal(postgres.how, 'started');
  await postgres.stop();
  other.kill('SIGKILL');
});

test('a server record that a crash left empty or broken does not prevent the database from starting', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  for (const record of ['', '\0\0\0\0\0\0\0\0', 'not a number\n']) {
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
      await writeFile(join(dataDir, 'postgres', name), record);
    const postgres = await start({ dataDir });
    assert.equal(postgres.how, 'started');
    await postgres.stop();
  }
});

test('the next start removes drafts of a killed attempt, even if its process ID is in use again', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeUsedDirectory(t);
  const [dead, taken] = ['postgres.draft-4194305-aaaaaa', `postgres.draft-${process.pid}-bbbbbb`];
  for (const name of [dead, taken]) await mkdir(join(dataDir, name));
  const anHourAgo = Date.now() / 1_000 - 3_600;
  await utimes(join(dataDir, taken), anHourAgo, anHourAgo);
  const postgres = await start({ dataDir });
  await postgres.stop();
  assert.deepEqual(await readdir(dataDir), ['postgres']);
});

test('a start on a full disk reports the full disk', { skip: isSlice }, async (t) => {
  const used = await makeUsedDirectory(t);
  const disk = await makeDirectory(t);
  const size = ['-t', 'tmpfs', '-o', 'size=96m,mode=755', 'tmpfs', disk];
  if (spawnSync('mount', size).status !== 0) return t.skip('only root may mount a small disk');
  spawnSync('cp', ['-a', join(used, 'postgres'), disk]);
  spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filling')}`, 'bs=64k']);
  try {
    await assert.rejects(start({ dataDir: disk }), /The disk is full: free up some space/);
  } finally {
    spawnSync('umount', ['--lazy', disk]);
  }
});

test('after kill -9 during initdb, the next start creates the cluster again', {
  skip: isSlice,
}, async (t) => {
  const dataDir = await makeDirectory(t);
  const victim = spawnUser(dataDir);
  await poll('a draft with files', async () => {
    const draft = (await readdir(dataDir)).find((name) => name.includes('.draft-'));
    return draft !== undefined && (await readdir(join(dataDir, draft))).length > 3;
  });
  victim.kill('SIGKILL');
  await once(victim, 'exit');
  const postgres = await start({ dataDir });
  assert.equal(await query(postgres.connection, 'select 1'), 1);
  await postgres.stop();
  await poll('the draft to be gone', async () => (await readdir(dataDir)).length === 1);
});
