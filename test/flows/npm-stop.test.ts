import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { isSlice } from '../cases.ts';
import { processesOf, startByNpm, stopUnderLoad } from '../nightly/stop-round.ts';

/* One round of one kind. `npm run test:long -- stop` runs 50 of each. */

const instance = await makeInstance();

test('SIGTERM to npm under load completes started requests, ends npm with 0 and leaves nothing running', {
  skip: isSlice,
}, async () => {
  await stopUnderLoad(instance, 'npm', { pauseMs: 20 });
});

test('kill -9 of npm ends the service and its database cleanly', { skip: isSlice }, async () => {
  const started = await startByNpm(instance);
  process.kill(started.npmPid, 'SIGKILL');
  await until('all of it to end', async () => (await processesOf(instance, started)).length === 0);
  assert.match(started.output(), /Stopped\.\n$/);
});
