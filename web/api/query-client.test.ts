import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepPreviousRows } from './query-client.ts';

test('rows stay until the next ones load, but an empty result is not kept for another query', () => {
  const some = { data: ['Ada'], pagination: { total_count: 1 } };
  assert.equal(keepPreviousRows(some), some);
  assert.equal(keepPreviousRows({ data: [], pagination: { total_count: 0 } }), undefined);
  assert.equal(keepPreviousRows(undefined), undefined);
});
