import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCount } from './format-count.ts';

test('a count of one uses the singular; none and several use the plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => formatCount(count, 'row')),
    ['0 rows', '1 row', '2 rows'],
  );
  assert.equal(formatCount(1, 'process', 'processes'), '1 process');
  assert.equal(formatCount(2, 'process', 'processes'), '2 processes');
});
