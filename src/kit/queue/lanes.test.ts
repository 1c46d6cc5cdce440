import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLanes } from './lanes.ts';

test('a lane has room for its cap', () => {
  const lanes = openLanes();
  lanes.begin('a', 2);
  assert.deepEqual(lanes.full(), []);
  assert.deepEqual(lanes.partlyFull(), { names: ['a'], rooms: [1] });
  lanes.begin('a', 2);
  assert.deepEqual(lanes.full(), ['a']);
  assert.deepEqual(lanes.partlyFull(), { names: [], rooms: [] });
});

test('a lane of which nothing runs is forgotten', () => {
  const lanes = openLanes();
  lanes.begin('a', 8);
  lanes.end('a', false);
  assert.deepEqual(lanes.partlyFull(), { names: [], rooms: [] });
});

test('a slow run narrows its lane to a quarter, also while nothing of it runs, and a quick one widens it again', () => {
  const lanes = openLanes();
  lanes.begin('a', 8);
  lanes.end('a', true);
  assert.deepEqual(lanes.partlyFull(), { names: ['a'], rooms: [2] });
  lanes.begin('a', 8);
  lanes.begin('a', 8);
  assert.deepEqual(lanes.full(), ['a']);
  lanes.end('a', false);
  assert.deepEqual(lanes.partlyFull(), { names: ['a'], rooms: [7] });
});

test('a lane that was narrowed below what runs is full until enough of it has ended', () => {
  const lanes = openLanes();
  for (let count = 0; count < 4; count += 1) lanes.begin('a', 4);
  lanes.end('a', true);
  assert.deepEqual(lanes.full(), ['a']);
  for (let count = 0; count < 3; count += 1) lanes.end('a', true);
  assert.deepEqual(lanes.partlyFull(), { names: ['a'], rooms: [1] });
});
