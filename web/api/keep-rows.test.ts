import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepRows } from './keep-rows.ts';

test('rows stay until the next ones load, but an empty result is not kept for another query', () => {
  const some = { data: ['Ada'], pagination: { total_count: 1 } };
  assert.equal(keepRows(some), some);
  assert.equal(keepRows({ data: [], pagination: { total_count: 0 } }), undefined);
  assert.equal(keepRows(undefined), undefined);
});
