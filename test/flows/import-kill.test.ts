import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { killImports, makeFiles } from '../nightly/import-round.ts';

/** Behind the form, amid the files of its submissions; `npm run test:kill -- 50` kills at random moments. */
const amidFiles = 22;

test('kill -9 of server and database amid what is brought in: a workspace, a form and answers go on to the same end, once', async (t) => {
  const instance = await makeInstance();
  const server = await instance.start();
  const site = await makeFiles(instance);
  const { killedAt } = await killImports(site, server, (progress) =>
    until('the moment to kill', async () => {
      // The answers began before: who waits for their lines too may see the workspace to its end on a busy machine.
      const { entries, unpacking } = await progress();
      return entries >= amidFiles && unpacking > 0;
    }),
  );
  t.diagnostic(`killed at ${JSON.stringify(killedAt)}`);
  assert.ok(killedAt.entries < site.comparable.length, 'in the middle');
});
