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
 * Creates a data directory with a migrated and stopped embedded database for `copyCluster`. initdb and the
 * migrations take 2 s of CPU, and about thirty test instances would otherwise each run them.
 * @returns its path. The caller must remove it.
 */
export async function makeCluster(log: (line: string) => void): Promise<string> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'formloom-cluster-')));
  // If root runs the tests, the database runs as another user, who needs access.
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
 * Copies the cluster that test/run.ts created into an empty data directory, as after a first start and stop.
 * Without test/run.ts the directory stays empty, and the first start creates the cluster.
 */
export async function copyCluster(dataDir: string, source = process.env['TEST_CLUSTER']): Promise<void> {
  if (source === undefined) return;
  // -a keeps the owner, which PostgreSQL requires. Node's own cp does not.
  await run('cp', ['-a', join(source, 'postgres'), join(dataDir, 'postgres')]);
}
