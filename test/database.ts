import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { Client, type PoolClient } from 'pg';
import { type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';

/** A database of a test file's own, on the real server that `npm test` started. */
export type TestDatabase = {
  database: Database;
  /** For a process that the test starts. */
  url: string;
};

/** The server that test/run.ts started, or the one named for `npm run test:long -- external`. */
function serverUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) throw new Error('TEST_DATABASE_URL is not set. Run tests with: npm test -- <file>');
  return url;
}

/** The same address with another database. Sockets (host in the query) stay as they are. */
export function withDatabase(url: string, name: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^/]*)\/[^?]*/, `$1/${name}`);
}

/** So long a connection may still be under way when its test file is done: longer than a statement takes at most. */
const keptMs = 15_000;

let administrator: Promise<Client> | undefined;

/** By one connection of this process, which keeps it from no end: each takes 5 ms of CPU, and a test file asks twice. */
async function administer(sql: string): Promise<void> {
  const client = await (administrator ??= connect());
  await client.query(sql);
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: serverUrl() });
  client.on('error', () => (administrator = undefined));
  await client.connect();
  // It has this, and its types do not say so.
  (client as Client & { unref(): void }).unref();
  return client;
}

/**
 * Makes a migrated database for the calling test file (a copy of the template that test/run.ts made, about
 * 50 ms) and drops it when the file is done.
 * @param options.reach leads to the database at an address by another one, such as that of a relay; `isEmpty`: it is not
 * migrated; `name` is what its sessions are called; without `limits` nothing ends what takes long;
 * `onEnd` has it dropped at another time.
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
  // The files are copied as they are: by its log, as PostgreSQL else does it, a copy takes three times the CPU.
  await administer(`create database ${name} ${template ? `template ${template}` : ''} strategy file_copy`);
  const url = withDatabase(serverUrl(), name);
  const database = openDatabase(
    { connectionString: options.reach ? await options.reach(url) : url },
    {
      pool: options.pool ?? 8,
      log: openLog('silent'),
      // Behind a relay the database is going to be silent, which is the subject; else a busy machine is no reason for a 503.
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
    // The pool waits for all that it lent, and a test that failed may have kept one: for ever, and the run with it.
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
