import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { isSlice } from './cases.ts';
import { childrenOf } from './process.ts';
import { until } from './service.ts';

const fixture = fileURLToPath(new URL('end-run.fixture.ts', import.meta.url));

test('a terminated test run ends every process it started and frees its memory', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells who began what');
  const run = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--preserve-symlinks', fixture],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(() => run.kill('SIGKILL'));
  const ended = once(run, 'exit') as Promise<[number | null, string | null]>;
  const [said] = (await once(run.stdout.setEncoding('utf8'), 'data')) as [string];
  const { directory, pids } = JSON.parse(said) as { directory: string; pids: number[] };
  const database = await findPostmaster(directory);
  assert.equal(database?.status, 'ready');
  run.kill('SIGTERM');
  assert.deepEqual(await ended, [null, 'SIGTERM']);
  assert.deepEqual([...pids, database.pid].filter(isAlive), []);
  if (directory.startsWith('/dev/shm/')) assert.ok(!existsSync(dirname(directory)));
});

test('a terminated benchmark ends its servers and their database and removes their files', {
  skip: isSlice,
}, async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells who began what');
  const folder = await mkdtemp(join(tmpdir(), 'formloom-bench-'));
  t.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const bench = fileURLToPath(new URL('../bench/run.ts', import.meta.url));
  const run = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', bench, 'get', '--sizes', '10'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, TMPDIR: folder },
    },
  );
  t.after(() => run.kill('SIGKILL'));
  const ended = once(run, 'exit') as Promise<[number | null, string | null]>;
  const findDatabase = async (): Promise<number | undefined> => {
    const [instance] = await readdir(folder);
    const database = instance && (await findPostmaster(join(folder, instance, 'postgres')));
    return database && database.status === 'ready' ? database.pid : undefined;
  };
  const database = await until('the database of a server', findDatabase);
  const [server] = await childrenOf(run.pid!);
  run.kill('SIGTERM');
  assert.deepEqual(await ended, [null, 'SIGTERM']);
  assert.deepEqual([server, database].filter(isAlive), []);
  assert.deepEqual(await readdir(folder), []);
});

const isAlive = (pid: number | undefined): boolean =>
  existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
