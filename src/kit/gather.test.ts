import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather } from './concurrency.ts';

test('what is asked in one turn goes in one batch, and each gets its own answer', async () => {
  const batches: number[][] = [];
  const double = gather(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items.map((item) => item * 2);
    },
    { most: 10, atOnce: 1 },
  );
  assert.deepEqual(await Promise.all([1, 2, 3].map(double)), [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test('a batch has its most, and what comes meanwhile waits for it and goes together', async () => {
  const batches: number[] = [];
  const same = gather(
    async (items: readonly number[]) => {
      batches.push(items.length);
      return items;
    },
    { most: 4, atOnce: 1 },
  );
  await Promise.all(Array.from({ length: 9 }, (_, index) => same(index)));
  assert.deepEqual(batches, [4, 4, 1]);
});

test('a batch runs beside another when enough waits for it, and else after it', async () => {
  const batches: number[] = [];
  const first = Promise.withResolvers<void>();
  const same = gather(
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

test('an item that fails, fails alone', async () => {
  const check = gather(
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

test('a database that answers nobody is asked once, and those that wait hear of it at once', async () => {
  const asked: number[] = [];
  const gathered = gather(
    (items: readonly number[]) => {
      asked.push(...items);
      return Promise.reject(new Error('Connection terminated: the database does not answer'));
    },
    { most: 2, atOnce: 1 },
  );
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(gathered));
  assert.deepEqual(
    results.map(({ status }) => status),
    Array.from({ length: 5 }, () => 'rejected'),
  );
  assert.deepEqual(asked, [1, 2]);
});
