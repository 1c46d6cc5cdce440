import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCount, formatWholeNumber } from './format-number.ts';

test("a whole number is formatted as by the platform's English locale", () => {
  for (const number of [0, 7, 999, 1_000, 12_345, 200_000, 1_234_567, 12_000_000_000])
    assert.equal(formatWholeNumber(number), number.toLocaleString('en'));
});

test('a count of one uses the singular; none and several use the plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => formatCount(count, 'row')),
    ['0 rows', '1 row', '2 rows'],
  );
  assert.equal(formatCount(1, 'process', 'processes'), '1 process');
  assert.equal(formatCount(2, 'process', 'processes'), '2 processes');
});
