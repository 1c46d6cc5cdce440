import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOfThread } from './answer-of-thread.ts';

const script = (text: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'; ${text}`)}`,
  );
const limits = { megabytes: 16, ms: 10_000, tooMuch: 'too much' };

test('a thread answers what it makes of its data', async () => {
  const doubling = script('parentPort.postMessage(workerData * 2)');
  assert.equal(await answerOfThread<unknown>('a workspace', doubling, 21, limits), 42);
});

test('one that takes too much memory or time is ended, and answered in its place', async () => {
  const greedy = script('const all = []; for (;;) all.push(Array.from({ length: 10000 }, Math.random));');
  assert.equal(await answerOfThread('a workspace', greedy, null, limits), 'too much');
  assert.equal(
    await answerOfThread('a workspace', script('for (;;);'), null, { ...limits, ms: 50 }),
    'too much',
  );
});

test('what it throws is thrown here, and one that ends without an answer keeps nobody waiting', async () => {
  const failing = script('throw new TypeError("no number")');
  await assert.rejects(answerOfThread('a workspace', failing, null, limits), /no number/);
  await assert.rejects(answerOfThread('a workspace', script(''), null, limits), /without an answer/);
});

test('two threads of one owner run at once, a third is refused with the seconds to wait, and others have their own', async () => {
  const slow = script('setTimeout(() => parentPort.postMessage(1), 300)');
  const slowLimits = { ...limits, tooMuch: 0 };
  const both = [answerOfThread('one', slow, null, slowLimits), answerOfThread('one', slow, null, slowLimits)];
  await assert.rejects(answerOfThread('one', slow, null, slowLimits), {
    code: 'rate_limit_exceeded',
    retryAfter: 5,
  });
  assert.equal(await answerOfThread('another', slow, null, slowLimits), 1);
  assert.deepEqual(await Promise.all(both), [1, 1]);
  assert.equal(await answerOfThread('one', slow, null, slowLimits), 1);
});
