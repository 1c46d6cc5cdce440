import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBell } from './worker.ts';

test('a ring is heard at once, also one that comes while nobody sleeps or while the time to sleep is asked for', async () => {
  const bell = openBell();
  const longSleep = 60_000;
  bell.ring();
  await bell.sleep(() => longSleep);
  await bell.sleep(async () => {
    bell.ring();
    return longSleep;
  });
  const asleep = bell.sleep(() => longSleep);
  // It sleeps when it has asked.
  await new Promise((resolve) => void setImmediate(resolve));
  bell.ring();
  await asleep;
  let asked = 0;
  await bell.sleep(() => (asked += 1));
  assert.equal(asked, 1, 'a ring that was heard is over');
});
