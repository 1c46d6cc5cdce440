import { test } from 'node:test';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { publishForm } from '#test/crowd.ts';
import { checkDeliveries, crash } from '../nightly/crash-round.ts';

/** A short round and a long one, at random moments; `npm run test:kill -- 50` makes more of them. */
const moments = [() => Math.random() * 200, () => 300 + Math.random() * 700];

test('kill -9 of server and database at any moment: nothing acknowledged is lost, every event is delivered', async (t) => {
  const receiver = await openReceiver();
  // A lease is the time limit and 15 s: what a dead server held is sent again after 16 s.
  const instance = await makeInstance({ WEBHOOK_TIMEOUT: '1' });
  let server = await instance.start();
  const site = { instance, receiver, form: await publishForm(instance, receiver.url) };
  const acknowledged = new Map<string, string>();
  for (const [round, moment] of moments.entries()) {
    const afterMs = moment();
    t.diagnostic(`round ${round + 1}: killed after ${Math.round(afterMs)} ms`);
    server = await crash(site, server, { name: `round ${round}`, afterMs, acknowledged });
  }
  await checkDeliveries(site, acknowledged);
});
