import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConditions, sayCondition } from './conditions.ts';

test('conditions that an address holds can all be said; what is none is left out', () => {
  const kept = [
    { on: 'answer', name: 'colour', op: 'any', values: ['Red', 'Blue'] },
    { on: 'answer', name: 'age', op: 'number', from: 3 },
    { on: 'reference', name: 'campaign', op: 'filled' },
    { on: 'version', op: 'equals', value: 2 },
  ];
  const nonsense = [
    { on: 'answer', name: 'colour', op: 'any' },
    { on: 'answer', name: 'colour', op: 'all', values: 'Red' },
    { on: 'answer', name: 'colour', op: 'filled', values: ['Red'] },
    { on: 'answer', op: 'filled' },
    { on: 'answer', name: 'colour', op: 'like' },
    'colour',
  ];
  const read = readConditions([...nonsense, ...kept]);
  assert.deepEqual(read, kept);
  assert.deepEqual(
    read.map((condition) => sayCondition(condition, [])),
    ['colour is any of Red, Blue', 'age is at least 3', 'campaign is answered', 'Version is 2'],
  );
});
