import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { isSlice } from '../cases.ts';

/* Makes a process throw an uncaught error when it receives SIGALRM. */

const fault = 'process.on("SIGALRM", () => { throw new Error("an unexpected fault"); });';
const instance = await makeInstance({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  WEB_PROCESSES: '2',
  LOG_LEVEL: 'info',
});

test('an unexpected error ends a web process cleanly and it is replaced, and in the primary it ends the service with 1', {
  skip: isSlice,
}, async () => {
  const server = await instance.start();
  const lines = () =>
    server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map(
        (line) => JSON.parse(line) as { level: string; msg: string; pid?: number; err?: { message: string } },
      );
  const serving = () => lines().filter(({ msg }) => msg === 'a web process is serving');
  const faults = () => lines().filter(({ level }) => level === 'fatal');

  await until('both processes to serve', async () => serving().length === 2);
  for (let time = 0; time < 3; time += 1) process.kill(serving()[0]!.pid!, 'SIGALRM');
  await until('the process to be replaced', async () => serving().length === 3);
  assert.deepEqual(
    faults().map(({ msg, err }) => [msg, err?.message]),
    [['an unexpected error stopped this process', 'an unexpected fault']],
    'logged once',
  );
  assert.equal((await fetch(`${instance.url}/readyz`)).status, 200);

  process.kill(server.pid, 'SIGALRM');
  await until('the service to be gone', async () => (await instance.databasePid()) === undefined);
  const { code } = await server.terminate();
  assert.equal(code, 1);
  assert.equal(faults().length, 2);
  assert.match(server.output(), /\nStopped\.\n$/);
});
