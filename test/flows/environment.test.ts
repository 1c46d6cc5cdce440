import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeInstance } from '#test/process.ts';
import { freePort, until } from '#test/service.ts';
import { isSlice } from '../cases.ts';

/*
 * Ordinary environments in which the service must work and stop cleanly. `npm run test:long -- stop` has more
 * of them.
 */

const main = fileURLToPath(new URL('../../dist/service/main.js', import.meta.url));
const listen = `127.0.0.1:${await freePort()}`;
const libpq = {
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGOPTIONS: '-c default_transaction_read_only=on -c search_path=nowhere',
  PGHOST: 'nowhere.invalid',
  PGPORT: '1',
  PGUSER: 'somebody',
  PGDATABASE: 'another',
  PGPASSWORD: 'hush',
  PGPASSFILE: '/nowhere/pgpass',
  PGSERVICE: 'another',
  PGDATA: '/nowhere/data',
  PGCLIENT_ENCODING: 'LATIN1',
  PGREPLICATION: 'database',
  PGBINARY: 'true',
  PGAPPNAME: 'another',
  PGCONNECT_TIMEOUT: '1',
  PGTZ: 'Asia/Tokyo',
  PGDATESTYLE: 'German',
};
const instance = await makeInstance({ METRICS_LISTEN: listen, LOG_LEVEL: 'info', ...libpq });

async function countDropped(stream: 'stdout' | 'stderr'): Promise<number> {
  const text = await (await fetch(`http://${listen}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('formloom_output_dropped'));
  const counts = lines.filter((line) => line.includes(`"${stream}"`)).map((line) => line.split(' ').at(-1));
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

async function isReady(): Promise<boolean> {
  const addresses = [`${instance.url}/readyz`, `http://${listen}/metrics`];
  const answers = await Promise.all(addresses.map((address) => fetch(address).catch(() => undefined)));
  return answers.every((answer) => answer?.status === 200);
}

test('a server whose log reader disappears still answers, counts dropped lines and stops cleanly', {
  skip: isSlice,
}, async () => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...instance.environment, WEB_PROCESSES: '2' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  await until('the server to be ready', isReady, 90);
  child.stdout.destroy();
  child.stderr.destroy();
  for (let request = 0; request < 20; request += 1) assert.equal(await isReady(), true);
  await until('lines to be counted as dropped', async () => (await countDropped('stderr')) > 0);
  child.kill('SIGTERM');
  assert.deepEqual(await closed, [0, null]);
  assert.equal(await instance.databasePid(), undefined, 'its database is stopped');
});

test('a server whose output goes to a full disk still serves, counts dropped lines and stops with exit code 0', {
  skip: isSlice,
}, async () => {
  const full = await open('/dev/full', 'w');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: instance.environment,
    stdio: ['ignore', full.fd, full.fd],
  });
  await full.close();
  const closed = once(child, 'close');
  await until('the server to be ready', isReady, 90);
  assert.ok((await countDropped('stdout')) > 0, 'what a start says');
  await until('the log to be counted as dropped', async () => (await countDropped('stderr')) > 0);
  child.kill('SIGTERM');
  assert.deepEqual(await closed, [0, null]);
  assert.equal(await instance.databasePid(), undefined, 'its database is stopped');
});

test('a command that starts the embedded database ignores libpq’s variables for another server, as both servers did', {
  skip: isSlice,
}, async () => {
  const made = await instance.begin(['workspace', 'create', 'Über', '--json']).ended;
  assert.deepEqual([made.code, made.complaint], [0, '']);
  assert.equal((JSON.parse(made.printed) as { name: string }).name, 'Über');
  assert.equal(await instance.databasePid(), undefined, 'its database is stopped');
});
