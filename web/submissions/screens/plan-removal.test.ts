import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTrashDeletions } from './plan-removal.ts';

const cases: [
  what: string,
  planned: Parameters<typeof countTrashDeletions>[0],
  expected: [count: number, rest: number],
][] = [
  ['a selection goes alone', { selected: 2, total: 250_000, atOnce: 200_000 }, [2, 0]],
  ['a trash that goes at once goes whole', { selected: 0, total: 200_000, atOnce: 200_000 }, [200_000, 0]],
  [
    'of a larger one as many as go at a time',
    { selected: 0, total: 250_000, atOnce: 200_000 },
    [200_000, 50_000],
  ],
];
for (const [what, planned, [count, rest]] of cases) {
  test(`emptying the trash: ${what}`, () => assert.deepEqual(countTrashDeletions(planned), { count, rest }));
}
