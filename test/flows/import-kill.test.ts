import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { killImports, makeFiles } from '../nightly/import-round.ts';

/** Behind the form, amid the files of its submissions; `npm run test:kill -- 50` kills at random moments. */
const amidFiles = 22;

test('kill -9 of server and database amid what is brought in: a workspace, a form and answers go on to the same end, once', async (t) => {
  const instance = await makeInstance();
  let server = await instance.start();
  const site = await makeFiles(instance);
  // Where the last step came between the look and the kill, the round was one more of a kill at its end: then again.
  for (let round = 1; ; round += 1) {
    const killed = await killImports(site, server, (progress) =>
      until('the moment to kill', async () => {
        // The answers began before: who waits for their lines too may see the workspace to its end on a busy machine.
        const { entries, unpacking } = await progress();
        return entries >= amidFiles && unpacking > 0;
      }),
    );
    server = killed.server;
    t.diagnostic(`killed at ${JSON.stringify(killed.killedAt)}`);
    if (killed.killedAt.entries < site.comparable.length) break;
    assert.ok(round < 6, 'in the middle');
  }
});
