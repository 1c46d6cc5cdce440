import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWakeSignal } from './worker.ts';

test('a notification wakes the sleeper immediately, even if it arrives before the sleep or while its duration is computed', async () => {
  const bell = openWakeSignal();
  const longSleep = 60_000;
  bell.ring();
  await bell.sleep(() => longSleep);
  await bell.sleep(async () => {
    bell.ring();
    return longSleep;
  });
  const asleep = bell.sleep(() => longSleep);
  // The sleep begins after its duration is computed.
  await new Promise((resolve) => void setImmediate(resolve));
  bell.ring();
  await asleep;
  let checks = 0;
  await bell.sleep(() => (checks += 1));
  assert.equal(checks, 1, 'a ring that woke it is over');
});
