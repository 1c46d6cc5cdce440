import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReceiver } from '#test/receiver.ts';
import { slowness } from '#test/slowness.ts';
import { fastDelays, openStage } from './stage.ts';

// G4, F24: the retry schedule, a thousand times faster. The queue's real delays are measured with the
// database's clock.

const stage = await openStage();

test('G4: attempts come after each delay, never earlier and at most 10 % or 100 ms later', async () => {
  const delays = fastDelays.slice(0, 4);
  const queue = stage.startWorker({ retryDelays: delays });
  const receiver = await openReceiver();
  receiver.replyWith(503);
  const scene = await stage.setScene(receiver.url);
  /** The shortest measured time of each delay over all rounds, because load can only make it longer. */
  const shortest = delays.map(() => Number.POSITIVE_INFINITY);
  // From the response to the next request. The time for settling and claiming does not shrink with the
  // schedule.
  const isPunctual = (factor = 1): boolean =>
    delays.every((delay, index) => shortest[index]! <= delay * 1.1 + 0.1 * factor);
  for (let round = 0; round < 5 && !isPunctual(); round += 1) {
    const before = receiver.requests.length;
    await stage.fire(scene, queue, 1);
    await stage.settled(scene, 40);
    const times = receiver.requests.slice(before).map(({ at }) => at);
    assert.equal(times.length, delays.length + 1);
    for (const [index, delay] of delays.entries()) {
      const waited = (times[index + 1]! - times[index]!) / 1_000;
      assert.ok(waited >= delay, `waited ${waited} s instead of ${delay} s`);
      shortest[index] = Math.min(shortest[index]!, waited);
    }
  }
  assert.ok(
    isPunctual() || isPunctual(slowness()),
    `waited ${shortest.join(', ')} s instead of ${delays.join(', ')} s`,
  );
  await queue.stop({ graceMs: 0 });
});

const asked: readonly (readonly [header: string, waits: number])[] = [
  ['1', 1],
  ['-1', 0.05],
  ['soon', 0.05],
  ['0', 0.05],
];
for (const [header, waits] of asked) {
  test(`F24: after 429 with Retry-After: ${header} the next attempt is in ${waits} s`, async () => {
    const queue = stage.startWorker();
    const receiver = await openReceiver();
    receiver.replyWith({ status: 429, headers: { 'Retry-After': header } }, 200);
    const scene = await stage.setScene(receiver.url);
    await stage.fire(scene, queue, 1);
    const [first, second] = await receiver.waitFor(2);
    const waited = (second!.at - first!.at) / 1_000;
    assert.ok(waited >= waits && waited < waits + 5, `waited ${waited} s`);
    await queue.stop({ graceMs: 0 });
  });
}

test('F24: a receiver that asks for a wait of 31,710 years gets the next attempt in an hour', async () => {
  const queue = stage.startWorker();
  const receiver = await openReceiver();
  receiver.replyWith({ status: 429, headers: { 'Retry-After': '1000000000000' } });
  const scene = await stage.setScene(receiver.url);
  await stage.fire(scene, queue, 1);
  await receiver.waitFor(1);
  await queue.stop();
  const { rows } = await stage.database.query(
    'select extract(epoch from next_attempt_at - now())::float as left from deliveries where form_id = $1',
    [scene.formId],
  );
  assert.ok(rows[0].left > 3_500 && rows[0].left <= 3_600, String(rows[0].left));
});
