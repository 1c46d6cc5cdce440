import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { untilAborted } from './concurrency.ts';

test('work is waited for until the signal, and what has ended leaves nothing with a signal that stays', async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done');
  await assert.rejects(untilAborted(Promise.reject(new Error('broken')), signal), /broken/);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  const told = new AbortController();
  const waiting = untilAborted(new Promise(() => {}), told.signal);
  told.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(untilAborted(new Promise(() => {}), told.signal), /enough/);
});
