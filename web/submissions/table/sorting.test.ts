import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSorting, toggleSorting } from './sorting.ts';

const alone = { isSecond: false };
const second = { isSecond: true };

test('a click on a column header sorts ascending, then descending, then not at all', () => {
  assert.equal(toggleSorting(undefined, 'age', alone), 'age');
  assert.equal(toggleSorting('age', 'age', alone), '-age');
  assert.equal(toggleSorting('-age', 'age', alone), undefined);
  assert.equal(toggleSorting('-age', 'name', alone), 'name');
  assert.equal(toggleSorting('age,name', 'name', alone), 'name');
});

test('Shift adds a second column for ties, and the first column keeps its order', () => {
  assert.equal(toggleSorting(undefined, 'age', second), 'age');
  assert.equal(toggleSorting('-age', 'name', second), '-age,name');
  assert.equal(toggleSorting('-age,name', 'name', second), '-age,-name');
  assert.equal(toggleSorting('-age,-name', 'name', second), '-age');
  assert.equal(toggleSorting('age,name', 'age', second), '-age,name');
  assert.equal(toggleSorting('age,name', '$status', second), 'age,$status');
  assert.deepEqual(readSorting('-age,$created'), [
    { id: 'age', isDescending: true },
    { id: '$created', isDescending: false },
  ]);
});
