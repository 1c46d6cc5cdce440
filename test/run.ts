import { spawn } from 'node:child_process';
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

/*
 * npm test                 everything: types, lint, format, then every test on a real PostgreSQL and a real browser
 * npm test -- <files…>     these test files only
 * npm run test:external    everything, on the PostgreSQL at TEST_DATABASE_URL
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const files = process.argv.slice(2);
const started = Date.now();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

function run(
  command: string,
  parameters: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: home, env: environment, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** Runs a step of the check-up, and ends with its code when it fails. */
async function step(name: string, command: string, parameters: readonly string[]): Promise<void> {
  const since = Date.now();
  const code = await run(command, parameters);
  if (code !== 0) {
    say(`✖ ${name}`);
    process.exit(code);
  }
  say(`✔ ${name} (${seconds(since)})`);
}

const tool = (name: string): string => join(home, 'node_modules', '.bin', name);

/** What the test files find the database with, and how to end it. */
type TestServer = { environment: Record<string, string>; close(): Promise<void> };

/** A server for all test files: an embedded one without fsync, or the one that was named. */
async function openTestServer(): Promise<TestServer> {
  const external = process.env['TEST_DATABASE_URL'];
  if (external) {
    const environment = { TEST_DATABASE_URL: external, TEST_DATABASE_TEMPLATE: await makeTemplate(external) };
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
      TEST_DATABASE_URL: `postgres://${user}@localhost/postgres?host=${encodeURIComponent(host)}`,
      // Migrated, and used by nobody.
      TEST_DATABASE_TEMPLATE: database,
      TEST_CLUSTER: source,
    },
    async close() {
      await server.stop();
      await Promise.all([directory, source].map((path) => rm(path, { recursive: true, force: true })));
    },
  };
}

/** A migrated database on a server that was named; each test file clones it: 50 ms instead of a migration. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const name = 'formloom_template';
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.end();
  const database = openDatabase(
    { connectionString: withDatabase(serverUrl, name) },
    { pool: 2, log: openLog('silent') },
  );
  await migrate(database, await readMigrations());
  await database.end();
  return name;
}

if (files.length === 0) {
  await step('types', tool('tsc'), ['--noEmit', '-p', '.']);
  await step('types of web', tool('tsc'), ['--noEmit', '-p', 'web']);
  await step('lint', tool('oxlint'), ['--type-aware', '--quiet']);
  await step('format', tool('biome'), ['format', '--log-level=error']);
}

const since = Date.now();
const server = await openTestServer();
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  ...server.environment,
  // Receivers of webhooks have certificates of this authority.
  NODE_EXTRA_CA_CERTS: join(home, 'test', 'certs', 'ca.pem'),
};
say(`✔ database (${seconds(since)})`);
const chosen = files.length > 0 ? files : ['src/**/*.test.ts', 'web/**/*.test.ts', 'test/**/*.test.ts'];
const code = await run(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    '--test',
    // One more than there are cores: much of a test's time is waiting, for a browser, a lease or a receiver.
    '--test-concurrency=3',
    `--test-timeout=${process.env['TEST_TIMEOUT_MS'] ?? 180_000}`,
    ...chosen,
  ],
  environment,
);
await server.close();
say(
  code === 0 ? `Everything passed in ${seconds(started)}.` : `Something failed, after ${seconds(started)}.`,
);
process.exit(code);
