import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInThread, type Task } from './run-in-thread.ts';

/** A task that runs the body of a function. */
const script = (body: string, ...given: readonly unknown[]): Task => ({
  module: new URL(
    `data:text/javascript,${encodeURIComponent(`export async function task(given) { ${body} }`)}`,
  ),
  name: 'task',
  given,
});
const limits = { megabytes: 16, ms: 10_000, tooMuch: 'too much' };

test('a thread answers what it makes of its data', async () => {
  assert.equal(await runInThread<unknown>('a workspace', script('return given * 2', 21), limits), 42);
});

test('one that takes too much memory or time is ended, and answered in its place', async () => {
  const greedy = script('const all = []; for (;;) all.push(Array.from({ length: 10000 }, Math.random));');
  assert.equal(await runInThread('a workspace', greedy, limits), 'too much');
  assert.equal(await runInThread('a workspace', script('for (;;);'), { ...limits, ms: 50 }), 'too much');
});

test('what it throws is thrown here, and one that ends without a result keeps nobody waiting', async () => {
  const failing = script('throw new TypeError("no number")');
  await assert.rejects(runInThread('a workspace', failing, limits), /no number/);
  await assert.rejects(runInThread('a workspace', script('process.exit()'), limits), /without a result/);
});

test('two threads of one owner run at once, a third is refused with the seconds to wait, and others have their own', async () => {
  const slow = script('return new Promise((resolve) => setTimeout(resolve, 300, 1))');
  const slowLimits = { ...limits, tooMuch: 0 };
  const both = [runInThread('one', slow, slowLimits), runInThread('one', slow, slowLimits)];
  await assert.rejects(runInThread('one', slow, slowLimits), {
    code: 'rate_limit_exceeded',
    retryAfter: 5,
  });
  assert.equal(await runInThread('another', slow, slowLimits), 1);
  assert.deepEqual(await Promise.all(both), [1, 1]);
  assert.equal(await runInThread('one', slow, slowLimits), 1);
});
