import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isSlice } from './cases.ts';

const home = fileURLToPath(new URL('..', import.meta.url));

/** Runs a script on a machine without the programs that it needs. */
function ask(...words: string[]): string {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...words],
    {
      cwd: home,
      encoding: 'utf8',
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    },
  );
  assert.equal(status, 1, stdout);
  return stdout;
}

test('a test requested by name fails if it cannot run, and says what is missing', { skip: isSlice }, () => {
  assert.match(
    ask('test/external.ts', 'test/flows/nodes.external.ts'),
    /NOT RUN.*redis-server.*VALKEY_TEST_URL.*nodes\.external\.ts\n.*failed/,
  );
  assert.match(ask('test/nightly/failover.ts'), /This machine lacks patroni, etcd-server, haproxy/);
  assert.match(ask('test/run.ts', 'test/no-such.test.ts'), /no such test: test\/no-such\.test\.ts/);
});
