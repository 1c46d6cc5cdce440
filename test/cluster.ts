import { execFile } from 'node:child_process';
import { chmod, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from '#kit/database.ts';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { cellsOfRun, makeCells } from './cells/make-cells.ts';

const run = promisify(execFile);

/**
 * Makes a data directory whose embedded database is migrated and stopped, for `copyCluster`: initdb and the migrations
 * take 2 s of CPU, and some thirty instances of the tests would each make their own.
 * @returns its path. Whoever calls it removes it.
 */
export async function makeCluster(log: (line: string) => void): Promise<string> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'formloom-cluster-')));
  // When root runs the tests, the database runs as another user, who must be able to pass.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, log, durable: false });
  const database = openDatabase(server.connection, { pool: 2, log: openLog('silent') });
  try {
    await migrate(database, await readMigrations());
    await (await makeCells(database, server.connection, cellsOfRun))?.close();
  } finally {
    await database.end();
    await server.stop();
  }
  return dataDir;
}

/**
 * Puts a copy of the cluster that test/run.ts made into an empty data directory: it is then as after a first start that
 * ended at once. Without test/run.ts it stays empty, and the first start makes the cluster.
 */
export async function copyCluster(dataDir: string, source = process.env['TEST_CLUSTER']): Promise<void> {
  if (source === undefined) return;
  // -a keeps the owner, whom PostgreSQL insists on; Node's own cp does not.
  await run('cp', ['-a', join(source, 'postgres'), join(dataDir, 'postgres')]);
}
