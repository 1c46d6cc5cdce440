import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepRows } from './keep-rows.ts';

test('rows stay until the next ones are there; that nothing matched is not said of another question', () => {
  const some = { data: ['Ada'], pagination: { total_count: 1 } };
  assert.equal(keepRows(some), some);
  assert.equal(keepRows({ data: [], pagination: { total_count: 0 } }), undefined);
  assert.equal(keepRows(undefined), undefined);
});
