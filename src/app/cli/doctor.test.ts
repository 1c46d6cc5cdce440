import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { readConfig } from '#kit/config.ts';
import { claimStorage, InstanceStorageError, openInstanceVault } from '#kit/instance-key.ts';
import { openLog } from '#kit/log.ts';
import { diskStorage } from '#kit/storage.ts';
import { isSlice } from '#test/cases.ts';
import { command } from '#test/command-line.ts';
import { testDatabase } from '#test/database.ts';
import { openMailServer } from '#test/mail-server.ts';
import { closedPort, freePort } from '#test/service.ts';
import { startTransactionPooler } from '#test/transaction-pooler.ts';
import { selectStaleTransactions } from '../checks/database-checks.ts';
import { openFormloomDatabase } from '../database/open-database.ts';
import type { Diagnosis } from './run-doctor.ts';

const { database, url } = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'formloom-doctor-'));
after(() => rm(dataDir, { recursive: true }));
const key = '0f'.repeat(32);
const settings = {
  DATABASE_URL: url,
  DATA_DIR: dataDir,
  SECRET_KEY: key,
  UPLOAD_FREE_MB: '16',
  PORT: String(await freePort()),
};
await openInstanceVault(database, readConfig(settings));

/** Runs doctor, and returns its exit code, its complaint, its problems and the finding of a check. */
async function ask(environment: Record<string, string> = {}) {
  const { code, complaint, answer } = await command({ ...settings, ...environment }, 'doctor');
  const { data } = answer as { data: Diagnosis[] };
  const problems = data.filter(({ state }) => state === 'problem');
  return { code, complaint, data, problems };
}

/** Returns the finding and remedy of the only expected problem. */
async function problemOf(check: string, environment: Record<string, string>): Promise<string> {
  const { code, problems } = await ask(environment);
  assert.equal(code, 1);
  assert.deepEqual(
    problems.map((each) => each.check),
    [check],
    JSON.stringify(problems),
  );
  return `${problems[0]!.finding} ${problems[0]!.remedy}`;
}

/** Starts the database with these settings, and stops it. */
async function start(environment: Record<string, string>): Promise<void> {
  const opened = await openFormloomDatabase(readConfig({ ...settings, ...environment }), openLog('silent'));
  await opened.close();
}

test('doctor reports every check of a healthy instance as passed and exits with 0', async () => {
  const { code, data, complaint } = await ask();
  assert.equal(code, 0, JSON.stringify(data));
  assert.equal(complaint, '');
  assert.deepEqual(
    data.map(({ check, state }) => `${check}: ${state}`),
    [
      'versions: ok',
      'disks: ok',
      'key file: ok',
      'memory limit: ok',
      'PUBLIC_URL: ok',
      'X-Forwarded-For: ok',
      'mail server: ok',
      'sessions: ok',
      'database version: ok',
      'writable: ok',
      'move: ok',
      'database disk: ok',
      'left-over locks: ok',
      'clock: ok',
      'schema: ok',
      'cells: ok',
      'key: ok',
      'other servers: ok',
      'storage: ok',
      'parked jobs: ok',
      'sweeps: ok',
      'backups: ok',
    ],
  );
});

test('doctor reports a transaction pooler, which also prevents a start', async () => {
  const pooled = { DATABASE_URL: await startTransactionPooler(url) };
  assert.match(await problemOf('sessions', pooled), /pool_mode=session/);
  await assert.rejects(start(pooled), /pool_mode=session/);
});

test('doctor reports a read-only database, which also prevents a start', async () => {
  const readOnly = {
    DATABASE_URL: `${url}${url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only=on`,
  };
  assert.match(await problemOf('writable', readOnly), /read-only.*default_transaction_read_only/);
  await assert.rejects(start(readOnly), /The database is read-only/);
});

test("doctor reports an instance key that differs from the database's, which also prevents a start", async () => {
  const other = { SECRET_KEY: '0e'.repeat(32) };
  assert.match(await problemOf('key', other), /uses a key other than/);
  await assert.rejects(start(other), /uses a key other than/);
});

test('doctor reports a database of a newer version, which also prevents a start', async () => {
  await database.query("insert into migrations (number, name, checksum) values (9999, '9999_later.sql', '')");
  assert.match(await problemOf('schema', {}), /newer than this version.*Start the newer version/);
  await assert.rejects(start({}), /newer than this version/);
  await database.query('delete from migrations where number = 9999');
});

test("doctor reports a storage that differs from the database's, until the operator confirms it", async () => {
  const place = (name: string) => ({ storage: diskStorage(join(dataDir, name), 0), place: name });
  const claims = await Promise.allSettled(
    ['uploads', 'others'].map((name) => claimStorage(database, place(name))),
  );
  assert.deepEqual(claims.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const replace = async (more: Record<string, string>) => {
    const { code, answer } = await command({ ...settings, ...more }, 'storage', 'replace');
    return { code, ...(answer as object) };
  };
  await replace({});
  await claimStorage(database, place('uploads'));
  const elsewhere = await mkdtemp(join(dataDir, 'elsewhere-'));
  const other = { DATA_DIR: elsewhere };
  assert.match(
    await problemOf('storage', other),
    /are not in .*elsewhere.*also copy instance-mark.*storage replace/s,
  );
  await assert.rejects(
    claimStorage(database, { ...place(relative(dataDir, elsewhere)) }),
    InstanceStorageError,
  );
  const result = { storage: join(elsewhere, 'uploads'), files: 0, missing: 0 };
  assert.deepEqual(await replace(other), { code: 0, ...result });
  assert.equal((await ask(other)).code, 0);
  assert.equal((await ask()).code, 0, 'what has the mark is a copy');
});

test('an empty database, as before the first start, is not a problem', async () => {
  const { url: empty } = await testDatabase({ isEmpty: true });
  const { code, data, problems } = await ask({ DATABASE_URL: empty });
  assert.deepEqual([code, problems], [0, []], JSON.stringify(data));
});

test('a pending migration is a warning, and doctor still exits with 0', async () => {
  const { rows } = await database.query<{ number: number; name: string; checksum: string }>(
    'delete from migrations where number = (select max(number) from migrations) returning number, name, checksum',
  );
  const { code, data } = await ask();
  const last = rows[0]!;
  await database.query('insert into migrations (number, name, checksum) values ($1, $2, $3)', [
    last.number,
    last.name,
    last.checksum,
  ]);
  assert.equal(code, 0);
  const schema = data.find(({ check }) => check === 'schema')!;
  assert.equal(schema.state, 'warning');
  assert.match(`${schema.finding} ${schema.remedy}`, /The next start runs migrations: .*\.sql.*backup/);
});

test('an unreachable database is reported as a problem with its remedy', async () => {
  const away = { DATABASE_URL: `postgres://nobody@127.0.0.1:${closedPort}/none` };
  assert.match(await problemOf('database', away), /does not respond.*DATABASE_URL/);
});

test('doctor reports an unreachable bucket, and still runs the other checks', { skip: isSlice }, async () => {
  const away = {
    S3_ENDPOINT: `http://127.0.0.1:${closedPort}/uploads`,
    S3_ACCESS_KEY_ID: 'a',
    S3_SECRET_ACCESS_KEY: 'b',
  };
  assert.match(
    await problemOf('storage', away),
    /bucket at 127\.0\.0\.1:\d+\/uploads .*failed\. Check the S3 settings/,
  );
  const { data } = await ask({ ...away, BACKUP_SCHEDULE: '0 3 * * *' });
  assert.ok(data.some(({ check }) => check === 'backups'));
});

test('doctor reports an unreachable Valkey, and still runs the other checks', async () => {
  const away = { VALKEY_URL: `redis://:secret@127.0.0.1:${closedPort}` };
  assert.match(
    await problemOf('other servers', away),
    /^The Valkey server at 127\.0\.0\.1:\d+ does not respond: .*VALKEY_URL.*rate limits apply to each Formloom server separately/,
  );
  assert.equal((await ask(away)).data.at(-1)!.check, 'backups');
});

test('doctor reports two servers without a Valkey, because each counts separately', async () => {
  const servers = ['one', 'other'].map(
    (name) => new Client({ connectionString: url, application_name: `formloom node ${name}` }),
  );
  for (const server of servers) {
    await server.connect();
    await server.query('select 1');
  }
  assert.match(
    await problemOf('other servers', {}),
    /^2 servers share this database without VALKEY_URL.*VALKEY_URL/,
  );
  for (const server of servers) await server.end();
});

test('doctor names the client that left a transaction open', async () => {
  const client = new Client({ connectionString: url, application_name: 'somebody' });
  await client.connect();
  await client.query('begin');
  const found = await selectStaleTransactions(database, { seconds: 0 });
  assert.match(found[0]!.who, /^process \d+ \(somebody\)$/);
  await client.end();
});

test('doctor reports an untrusted proxy, a PUBLIC_URL that only works locally, a full disk and a key file readable by others', async () => {
  const https = { PUBLIC_URL: 'https://forms.invalid' };
  assert.match(await problemOf('X-Forwarded-For', https), /share one rate limit.*TRUST_PROXY/);
  assert.equal((await ask({ ...https, TRUST_PROXY: '1' })).code, 0);
  assert.match(
    await problemOf('PUBLIC_URL', { HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:3000' }),
    /only works on this machine/,
  );
  assert.match(
    await problemOf('disks', { UPLOAD_FREE_MB: '999999999' }),
    /uploads are refused.*Free up space/,
  );
  const nowhere = { BACKUP_SCHEDULE: '0 3 * * *', BACKUP_TO: '/proc/nowhere' };
  assert.match(await problemOf('disks', nowhere), /0 MB free on the disk of \/proc \(backups\)/);
  const path = join(dataDir, 'secret.key');
  await writeFile(path, key);
  await chmod(path, 0o644);
  assert.match(
    await problemOf('key file', { SECRET_KEY: '' }),
    /Other users of this machine can read .*chmod 600/,
  );
  await chmod(path, 0o600);
  assert.equal((await ask({ SECRET_KEY: '' })).code, 0);
});

test('doctor reports the last scheduled backup, that there is none yet, and why the last one failed', async () => {
  const scheduled = { BACKUP_SCHEDULE: '0 3 * * *', BACKUP_TO: join(dataDir, 'backups') };
  const backups = async () => (await ask(scheduled)).data.find(({ check }) => check === 'backups')!;
  const none = await backups();
  assert.equal(none.state, 'warning');
  assert.match(
    `${none.finding} ${none.remedy}`,
    /No backup has been made yet.*Start a server to make one now/,
  );
  const add = (due: string, finished: string, problem: string | null) =>
    database.query(
      `insert into backups (due_at, name, begun_at, finished_at, problem)
       select $1, 'a', $1::timestamptz, $2::timestamptz, $3`,
      [due, finished, problem],
    );
  const lately = new Date(Date.now() - 3_600_000).toISOString();
  await add(lately, lately, null);
  const backup = await backups();
  assert.deepEqual([backup.state, backup.finding], ['ok', `The last backup was made on ${lately}.`]);
  const now = new Date().toISOString();
  await add(now, now, 'ENOSPC: no space left');
  const text = await problemOf('backups', scheduled);
  assert.ok(text.includes('ENOSPC: no space left') && text.includes(lately), text);
  assert.equal((await ask()).code, 0, 'without a schedule, none is due');
  await database.query('delete from backups');
});

test('doctor reports an unreachable mail server, wrong credentials, and a silent server within 3 s', {
  skip: isSlice,
}, async () => {
  const mailServer = await openMailServer({ login: { user: 'formloom', password: 'right' } });
  const by = (url: string) => ({ SMTP_URL: url, MAIL_FROM: 'forms@formloom.test' });
  const { code, data } = await ask(by(mailServer.url));
  assert.equal(code, 0, JSON.stringify(data));
  assert.equal(mailServer.taken.length, 0);
  const wrong = mailServer.url.replace(':right@', ':wrong@');
  assert.match(await problemOf('mail server', by(wrong)), /credentials of SMTP_URL/);
  await mailServer.goAway();
  assert.match(await problemOf('mail server', by(mailServer.url)), /cannot be reached.*Check SMTP_URL/);
  const silent = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  assert.match(await problemOf('mail server', by(`smtp://127.0.0.1:${port}`)), /within 3 s/);
});
