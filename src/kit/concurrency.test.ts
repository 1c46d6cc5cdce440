import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { batchCalls, coalesceCalls, untilAborted } from './concurrency.ts';

test('calls in one turn of the event loop share a batch, and each gets its own result', async () => {
  const batches: number[][] = [];
  const double = batchCalls(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items.map((item) => item * 2);
    },
    { most: 10, atOnce: 1 },
  );
  assert.deepEqual(await Promise.all([1, 2, 3].map(double)), [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test('a batch has a maximum size, and calls that arrive meanwhile share the next batch', async () => {
  const batches: number[] = [];
  const same = batchCalls(
    async (items: readonly number[]) => {
      batches.push(items.length);
      return items;
    },
    { most: 4, atOnce: 1 },
  );
  await Promise.all(Array.from({ length: 9 }, (_, index) => same(index)));
  assert.deepEqual(batches, [4, 4, 1]);
});

test('a second batch runs in parallel if enough calls wait, and otherwise after the first', async () => {
  const batches: number[] = [];
  const first = Promise.withResolvers<void>();
  const same = batchCalls(
    async (items: readonly number[]) => {
      batches.push(items.length);
      if (batches.length === 1) await first.promise;
      return items;
    },
    { most: 4, atOnce: 2, leastBeside: 3 },
  );
  const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const all = [same(0)];
  await settled();
  all.push(same(1), same(2));
  await settled();
  assert.deepEqual(batches, [1]);
  all.push(same(3));
  await settled();
  assert.deepEqual(batches, [1, 3]);
  all.push(same(4));
  await settled();
  first.resolve();
  assert.deepEqual(await Promise.all(all), [0, 1, 2, 3, 4]);
});

test('a failing item does not affect the others', async () => {
  const check = batchCalls(
    async (items: readonly string[]) => {
      if (items.includes('bad')) throw new Error('bad');
      return items;
    },
    { most: 10, atOnce: 2 },
  );
  const results = await Promise.allSettled(['a', 'bad', 'b'].map(check));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

test('an unresponsive database is queried once, and waiting calls fail immediately', async () => {
  const queried: number[] = [];
  const gathered = batchCalls(
    (items: readonly number[]) => {
      queried.push(...items);
      return Promise.reject(new Error('Connection terminated: the database does not respond'));
    },
    { most: 2, atOnce: 1 },
  );
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(gathered));
  assert.deepEqual(
    results.map(({ status }) => status),
    Array.from({ length: 5 }, () => 'rejected'),
  );
  assert.deepEqual(queried, [1, 2]);
});

/** Returns lookups that the test settles in their order. */
function openQuestions() {
  const lookups: { key: string; answer: PromiseWithResolvers<string> }[] = [];
  const find = coalesceCalls(
    (key: string) => {
      const answer = Promise.withResolvers<string>();
      lookups.push({ key, answer });
      return answer.promise;
    },
    { atOnce: 2 },
  );
  return { lookups, find, keys: () => lookups.map(({ key }) => key) };
}
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('lookups of the same key in one turn share a query, and another key has its own', async () => {
  const { lookups, find, keys } = openQuestions();
  const all = Promise.all([find('a'), find('b'), find('a')]);
  await turn();
  assert.deepEqual(keys(), ['a', 'b']);
  for (const { key, answer } of lookups) answer.resolve(key);
  assert.deepEqual(await all, ['a', 'b', 'a']);
});

test('a lookup during two running queries shares the next query, which begins after the lookup was made', async () => {
  const { lookups, find, keys } = openQuestions();
  const [first] = [find('a'), await turn()];
  const [second] = [find('a'), await turn()];
  const late = [find('a')];
  await turn();
  late.push(find('a'));
  await turn();
  assert.deepEqual(keys(), ['a', 'a']);
  lookups[1]!.answer.resolve('second');
  assert.equal(await second, 'second');
  await turn();
  assert.deepEqual(keys(), ['a', 'a', 'a'], 'a slow one does not delay the others');
  lookups[2]!.answer.resolve('late');
  assert.deepEqual(await Promise.all(late), ['late', 'late']);
  lookups[0]!.answer.resolve('first');
  assert.equal(await first, 'first');
});

test('a failing query fails for every lookup that shares it', async () => {
  const { lookups, find } = openQuestions();
  const both = Promise.allSettled([find('a'), find('b')]);
  await turn();
  lookups[0]!.answer.reject(new Error('bad'));
  lookups[1]!.answer.resolve('good');
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  const again = find('a');
  await turn();
  lookups[2]!.answer.resolve('good');
  assert.equal(await again, 'good');
});

test('an unresponsive database is not queried again, and waiting lookups fail immediately', async () => {
  const { lookups, find, keys } = openQuestions();
  const all: Promise<string>[] = [];
  for (let time = 0; time < 4; time += 1) {
    all.push(find('a'));
    await turn();
  }
  const results = Promise.allSettled(all);
  for (const { answer } of lookups.slice())
    answer.reject(new Error('Connection terminated: the database does not respond'));
  assert.ok((await results).every(({ status }) => status === 'rejected'));
  assert.deepEqual(keys(), ['a', 'a']);
});

test('untilAborted waits for work until the signal aborts, and finished work leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done');
  await assert.rejects(untilAborted(Promise.reject(new Error('broken')), signal), /broken/);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  const controller = new AbortController();
  const waiting = untilAborted(new Promise(() => {}), controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(untilAborted(new Promise(() => {}), controller.signal), /enough/);
});
