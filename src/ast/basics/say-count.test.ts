import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayCount } from './say-count.ts';

test('a count of one uses the singular; none and several use the plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => sayCount(count, 'row')),
    ['0 rows', '1 row', '2 rows'],
  );
  assert.equal(sayCount(1, 'process', 'processes'), '1 process');
  assert.equal(sayCount(2, 'process', 'processes'), '2 processes');
});
