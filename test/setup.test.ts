import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* What setup.mjs does in a clone that has nothing yet; the package manager is one that has nothing to install. */

const home = await mkdtemp(join(tmpdir(), 'formloom-setup-'));
after(() => rm(home, { recursive: true }));
await mkdir(join(home, 'src', 'app'), { recursive: true });
await mkdir(join(home, 'node_modules'));
await copyFile(fileURLToPath(new URL('../setup.mjs', import.meta.url)), join(home, 'setup.mjs'));
await writeFile(join(home, 'package-lock.json'), '{}');
await writeFile(join(home, 'npm.mjs'), '');
await writeFile(join(home, 'src', 'app', 'cli.ts'), "console.log('it runs');");

test('a start that was killed in its turn does not keep the next one waiting, also when both have one number', () => {
  const { npm_lifecycle_event: _, ...env } = process.env;
  // What follows exec has the number of the shell, which is in the lock.
  const command = 'echo $$ > .installing; exec "$0" setup.mjs src/app/cli.ts';
  const { stdout, status } = spawnSync('sh', ['-c', command, process.execPath], {
    cwd: home,
    env: { ...env, npm_execpath: join(home, 'npm.mjs') },
    encoding: 'utf8',
    timeout: 10_000,
  });
  assert.deepEqual([status, stdout.trim()], [0, 'it runs']);
});
