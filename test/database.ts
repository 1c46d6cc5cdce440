import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { Client, type PoolClient } from 'pg';
import { type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';

/** A database for one test file, on the real server that `npm test` started. */
export type TestDatabase = {
  database: Database;
  /** The URL for a process that the test starts. */
  url: string;
};

/** Returns the server that test/run.ts started, or the one for `npm run test:long -- external`. */
function serverUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) throw new Error('TEST_DATABASE_URL is not set. Run tests with: npm test -- <file>');
  return url;
}

/** Replaces the database in a URL. Sockets (host in the query) stay unchanged. */
export function withDatabase(url: string, name: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^/]*)\/[^?]*/, `$1/${name}`);
}

/**
 * How long a connection may stay in use after its test file ends, in milliseconds. Longer than any statement
 * takes.
 */
const keptMs = 15_000;

let administrator: Promise<Client> | undefined;

/**
 * Runs SQL on one connection of this process, which does not keep it running. A new one takes 5 ms of CPU,
 * and each test file needs it twice.
 */
async function administer(sql: string): Promise<void> {
  const client = await (administrator ??= connect());
  await client.query(sql);
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: serverUrl() });
  client.on('error', () => (administrator = undefined));
  await client.connect();
  // The client has this method, but its types lack it.
  (client as Client & { unref(): void }).unref();
  return client;
}

/**
 * Creates a migrated database for the calling test file and drops it when the file ends. It is a copy of the
 * template from test/run.ts, about 50 ms.
 * @param options.reach returns another URL to the database, such as that of a relay. With `isEmpty` it is not
 * migrated. `name` is the name of its sessions. `limits: false` removes the timeouts, and `onEnd` decides
 * when it is dropped.
 */
export async function testDatabase(
  options: {
    pool?: number;
    reach?: (url: string) => Promise<string>;
    isEmpty?: boolean;
    name?: string;
    limits?: false;
    onEnd?: (close: () => Promise<void>) => void;
  } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = options.isEmpty ? undefined : process.env['TEST_DATABASE_TEMPLATE'];
  // Copies the files directly. PostgreSQL's default copies through its log and takes three times the CPU.
  await administer(`create database ${name} ${template ? `template ${template}` : ''} strategy file_copy`);
  const url = withDatabase(serverUrl(), name);
  const database = openDatabase(
    { connectionString: options.reach ? await options.reach(url) : url },
    {
      pool: options.pool ?? 8,
      log: openLog('silent'),
      // Tests with a relay expect a silent database. In other tests a busy machine must not cause a 503.
      ...(!options.reach && { waitMs: 60_000 }),
      ...(options.name && { name: options.name }),
      ...(options.limits === false && { limits: false }),
    },
  );
  const lent = new Set<PoolClient>();
  database.on('acquire', (client) => lent.add(client)).on('release', (_, client) => lent.delete(client));
  if (!template && !options.isEmpty) await migrate(database, await readMigrations());
  const { onEnd = after } = options;
  onEnd(async () => {
    const ended = database.end();
    // The pool waits for all its connections. If a failed test kept one, the run would wait forever.
    let kept = 0;
    const late = setTimeout(() => {
      kept = lent.size;
      for (const client of lent) client.release(true);
    }, keptMs);
    await ended;
    clearTimeout(late);
    await administer(`drop database if exists ${name} with (force)`);
    assert.equal(kept, 0, 'connections that a test has kept');
  });
  return { database, url };
}
