import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '#kit/config.ts';
import { openDatabase } from '#kit/database.ts';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { openLog } from '#kit/log.ts';
import { openServer } from '#kit/open-server.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { isSlice } from '#test/cases.ts';
import { copyCluster } from '#test/cluster.ts';
import { command } from '#test/command-line.ts';
import { until } from '#test/service.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { healthRoutes } from './server.ts';

test('commands, doctor and readyz report a full disk of the database until space is free again', {
  skip: isSlice,
}, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'formloom-full-'));
  await chmod(home, 0o755);
  const [disk, dataDir] = [join(home, 'postgres'), join(home, 'data')];
  await mkdir(disk);
  await mkdir(dataDir);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m,mode=755', 'tmpfs', disk]).status !== 0)
    return t.skip('only root may mount a small disk');
  await copyCluster(disk);
  const server = await startEmbeddedPostgres({ dataDir: disk, log: () => {}, durable: false });
  const { host, user, database: name } = server.connection;
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
  const log = openLog('silent');
  const database = openDatabase({ connectionString: url }, { pool: 2, log });
  const http = openServer({ log, trustProxy: false });
  healthRoutes(http, {
    config: readConfig({ DATA_DIR: disk }),
    database,
    storage: openStorage(readConfig({ DATA_DIR: dataDir })),
    isStopping: () => false,
  });
  t.after(async () => {
    await http.close();
    await database.end();
    await server.stop();
    spawnSync('umount', ['--lazy', disk]);
    await rm(home, { recursive: true });
  });
  const ask = async (): Promise<[number, unknown]> => {
    const { statusCode, body } = await http.inject('/readyz');
    return [statusCode, JSON.parse(body)];
  };
  const environment = { DATABASE_URL: url, DATA_DIR: dataDir };
  // Only the embedded PostgreSQL has a cluster that can be copied.
  assert.equal((await command(environment, 'database', 'create')).code, 0);
  // Makes each new workspace need more space than its pages have left.
  await database.query('create table filling (text text)');
  await database.query(`create function fill() returns trigger language plpgsql as
    $$ begin insert into filling select repeat('x', 1900) from generate_series(1, 2000); return new; end $$`);
  await database.query(
    'create trigger filled before insert on workspaces for each row execute function fill()',
  );
  spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filling')}`, 'bs=64k']);
  assert.deepEqual(await ask(), [200, { status: 'ready' }], 'no request was refused yet');
  await assert.rejects(createWorkspace(database, { name: 'One', plan: 'free' }), /No space left/);
  assert.deepEqual(await ask(), [503, { status: 'the database disk is full' }]);
  const refused = await command(environment, 'workspace', 'create', 'Two');
  assert.equal(refused.code, 1, refused.complaint);
  assert.match(refused.complaint, /The database disk is full: .*No space left on device.* Free up space/);
  const { code, answer } = await command(environment, 'doctor');
  assert.equal(code, 1);
  assert.match(
    JSON.stringify(answer),
    /"database disk","state":"problem","finding":"The database disk is full/,
  );
  // PostgreSQL stops if its log has no space.
  await assert.rejects(
    Promise.all(
      Array.from({ length: 60 }, () =>
        database.query("select pg_logical_emit_message(false, 'x', repeat('x', 1000000))"),
      ),
    ),
  );
  await until('the database to end', async () => (await findPostmaster(server.directory)) === undefined);
  assert.deepEqual(await ask(), [503, { status: 'the database disk is full' }]);
  await rm(join(disk, 'filling'));
  await until('the database to be back', async () => (await ask())[0] === 200);
  const made = await command(environment, 'workspace', 'create', 'Two');
  assert.equal(made.code, 0, made.complaint);
});
