import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { isRoot, makeDirectory, ordinary, start, startProcess } from '#test/kit/postgres-users.ts';
import { EmbeddedPostgresError } from './machine.ts';

test('the error for a directory without write permission names the directory and the remedy', async (t) => {
  const parent = await makeDirectory(t, 0o555);
  const user = await startProcess(join(parent, 'data'), ordinary);
  assert.equal(user.report.error, 'EmbeddedPostgresError');
  assert.match(
    user.report.message ?? '',
    /cannot create the data directory .*data .*EACCES.*DATA_DIR.*DATABASE_URL/s,
  );
});

test('a directory that is not a cluster of this version is rejected with a remedy', async (t) => {
  const dataDir = await makeDirectory(t);
  const place = join(dataDir, 'postgres');
  const refuse = async (pattern: RegExp): Promise<void> => {
    await assert.rejects(start({ dataDir }), (error: unknown) => {
      assert.ok(error instanceof EmbeddedPostgresError);
      assert.match(error.message, pattern);
      assert.match(error.message, /DATABASE_URL/);
      return true;
    });
  };
  await symlink(join(dataDir, 'nowhere'), place);
  await refuse(/moved or removed.*delete the link/s);
  await rm(place);
  await mkdir(place);
  await writeFile(join(place, 'diary.txt'), 'dear diary');
  await refuse(/something other than a PostgreSQL cluster/);
  await writeFile(join(place, 'PG_VERSION'), '17\n');
  await refuse(/made by PostgreSQL 17.*includes PostgreSQL 18/s);
  await writeFile(join(place, 'PG_VERSION'), '18\n');
  if (isRoot) await refuse(/belongs to uid 0.*chown -R nobody/s);
  if (isRoot) await chown(place, ordinary.uid, ordinary.gid);
  await chmod(place, 0o700);
  await refuse(/does not start in .*postgresql\.conf/s);
});

test('another server on our socket is rejected', { skip: isSlice }, async (t) => {
  const dataDir = await makeDirectory(t);
  const postgres = await start({ dataDir });
  const place = join(dataDir, 'other', 'postgres');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'PG_VERSION'), '18\n');
  await writeFile(join(place, 'postmaster.pid'), await readFile(join(postgres.directory, 'postmaster.pid')));
  await symlink(join(postgres.directory, '.s.PGSQL.5432'), join(place, '.s.PGSQL.5432'));
  const { uid, gid } = await lstat(postgres.directory);
  await chown(place, uid, gid);
  await assert.rejects(
    start({ dataDir: dirname(place) }),
    /PostgreSQL server that runs in .*Stop that server/,
  );
  await rm(place, { recursive: true });
  await postgres.stop();
});
