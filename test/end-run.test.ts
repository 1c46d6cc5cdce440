import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';

const fixture = fileURLToPath(new URL('end-run.fixture.ts', import.meta.url));

test('a run of tests that is told to end ends all that it began, and gives its memory back', async (t) => {
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
  const isAlive = (pid: number): boolean =>
    existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  assert.deepEqual([...pids, database.pid].filter(isAlive), []);
  if (directory.startsWith('/dev/shm/')) assert.ok(!existsSync(dirname(directory)));
});
