import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInThread, type ThreadTask } from './run-in-thread.ts';

/** A task that runs this function body. */
const script = (body: string, ...given: readonly unknown[]): ThreadTask => ({
  module: new URL(
    `data:text/javascript,${encodeURIComponent(`export async function task(given) { ${body} }`)}`,
  ),
  name: 'task',
  given,
});
const limits = { megabytes: 16, ms: 10_000, tooMuch: 'too much' };

test('a thread returns the result of its task', async () => {
  assert.equal(await runInThread<unknown>('a workspace', script('return given * 2', 21), limits), 42);
});

test('a thread that uses too much memory or time is ended, and its fallback result is returned', async () => {
  const greedy = script('const all = []; for (;;) all.push(Array.from({ length: 10000 }, Math.random));');
  assert.equal(await runInThread('a workspace', greedy, limits), 'too much');
  assert.equal(await runInThread('a workspace', script('for (;;);'), { ...limits, ms: 50 }), 'too much');
});

test('an error in the thread is thrown to the caller, and a thread that ends without a result fails', async () => {
  const failing = script('throw new TypeError("no number")');
  await assert.rejects(runInThread('a workspace', failing, limits), /no number/);
  await assert.rejects(runInThread('a workspace', script('process.exit()'), limits), /without a result/);
});

test('an owner may run two threads at the same time; a third is rejected with the seconds to wait, and other owners are unaffected', async () => {
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
