import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizeByObject } from './memoize.ts';

test('a fact is computed once per object, even if it is false', () => {
  const computed: object[] = [];
  const isEmpty = memoizeByObject((thing: object) => {
    computed.push(thing);
    return Object.keys(thing).length === 0;
  });
  const [one, other] = [{ id: 'one' }, {}];
  assert.deepEqual([isEmpty(one), isEmpty(other), isEmpty(one), isEmpty(other)], [false, true, false, true]);
  assert.deepEqual(computed, [one, other]);
});
