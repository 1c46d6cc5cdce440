import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { openDatabase } from '#kit/database.ts';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { copyCluster, makeCluster } from './cluster.ts';
import { withDatabase } from './database.ts';

/** This authority signs the certificates of webhook receivers. */
const authority = { NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('certs/ca.pem', import.meta.url)) };

/** The environment of test files, and a function that ends the server. */
export type TestServer = { environment: Record<string, string>; close(): Promise<void> };

/** Opens a server for all test files: an embedded one without fsync, or the given one. */
export async function openTestServer(say: (line: string) => void): Promise<TestServer> {
  const external = process.env['TEST_DATABASE_URL'];
  if (external) {
    const environment = {
      ...authority,
      TEST_DATABASE_URL: external,
      TEST_DATABASE_TEMPLATE: await makeTemplate(external),
    };
    return { environment, close: async () => {} };
  }
  const source = await makeCluster(say);
  const directory = await mkdtemp(join(tmpdir(), 'formloom-tests-'));
  await chmod(directory, 0o755);
  await copyCluster(directory, source);
  const server = await startEmbeddedPostgres({
    dataDir: directory,
    log: say,
    durable: false,
    settings: { max_connections: '200' },
  });
  const { host, user, database } = server.connection;
  return {
    environment: {
      ...authority,
      TEST_DATABASE_URL: `postgres://${user}@localhost/postgres?host=${encodeURIComponent(host)}`,
      // Migrated and otherwise unused.
      TEST_DATABASE_TEMPLATE: database,
      TEST_CLUSTER: source,
    },
    async close() {
      await server.stop();
      await Promise.all([directory, source].map((path) => rm(path, { recursive: true, force: true })));
    },
  };
}

/**
 * Creates a migrated database on a given server. Each test file clones it in 50 ms instead of running
 * migrations.
 */
async function makeTemplate(serverUrl: string): Promise<string> {
  const name = 'formloom_template';
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.end();
  const url = withDatabase(serverUrl, name);
  const database = openDatabase({ connectionString: url }, { pool: 2, log: openLog('silent') });
  await migrate(database, await readMigrations());
  await database.end();
  return name;
}
