import { test } from 'node:test';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { openReceiver } from '#test/receiver.ts';
import { checkDeliveries, crash } from '../nightly/crash-round.ts';

/**
 * A short, long or medium time. `npm run test:long -- kill 50` runs more rounds, each on the state of the
 * last one.
 */
const afterMs = Math.random() * 1_000;

test('kill -9 of server and database at any moment loses nothing acknowledged, and every event is delivered', async (t) => {
  const receiver = await openReceiver();
  // A lease lasts 15 s longer than the timeout, so requests of a dead server are sent again after 16 s.
  const instance = await makeInstance({ WEBHOOK_TIMEOUT: '1' });
  const server = await instance.start();
  const site = { instance, receiver, form: await publishForm(instance, receiver.url) };
  const acknowledged = new Map<string, string>();
  t.diagnostic(`killed after ${Math.round(afterMs)} ms`);
  await crash(site, server, { name: 'round', afterMs, acknowledged });
  await checkDeliveries(site, acknowledged);
});
