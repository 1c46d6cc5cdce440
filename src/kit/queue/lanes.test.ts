import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLanes } from './lanes.ts';

test('a lane has room for its cap', () => {
  const lanes = openLanes();
  lanes.begin('a', { perLane: 2 });
  assert.deepEqual(lanes.closed(), []);
  assert.deepEqual(lanes.rooms(), { names: ['a'], rooms: [1] });
  lanes.begin('a', { perLane: 2 });
  assert.deepEqual(lanes.closed(), ['a']);
  assert.deepEqual(lanes.rooms(), { names: [], rooms: [] });
});

test('a lane of which nothing runs is forgotten', () => {
  const lanes = openLanes();
  lanes.begin('a', { perLane: 8 });
  lanes.end('a', 'usual');
  assert.deepEqual(lanes.rooms(), { names: [], rooms: [] });
});

test('a slow run narrows its lane to a quarter, also while nothing of it runs, and one that is not widens it again', () => {
  const lanes = openLanes();
  lanes.begin('a', { perLane: 8 });
  lanes.end('a', 'slow');
  assert.deepEqual(lanes.rooms(), { names: ['a'], rooms: [2] });
  lanes.begin('a', { perLane: 8 });
  lanes.begin('a', { perLane: 8 });
  assert.deepEqual(lanes.closed(), ['a']);
  lanes.end('a', 'usual');
  assert.deepEqual(lanes.rooms(), { names: ['a'], rooms: [7] });
});

test('a lane that was narrowed below what runs is full until enough of it has ended', () => {
  const lanes = openLanes();
  for (let count = 0; count < 4; count += 1) lanes.begin('a', { perLane: 4 });
  lanes.end('a', 'slow');
  assert.deepEqual(lanes.closed(), ['a']);
  for (let count = 0; count < 3; count += 1) lanes.end('a', 'slow');
  assert.deepEqual(lanes.rooms(), { names: ['a'], rooms: [1] });
});

test('a quick run opens the wider cap of its kind, for as long as something of the lane runs', () => {
  const lanes = openLanes();
  const width = { perLane: 2, perQuickLane: 8 };
  lanes.begin('a', width);
  lanes.begin('a', width);
  assert.deepEqual(lanes.closed(), ['a']);
  lanes.end('a', 'quick');
  assert.deepEqual(lanes.rooms(), { names: ['a'], rooms: [7] });
  lanes.end('a', 'quick');
  assert.deepEqual(lanes.rooms(), { names: [], rooms: [] });
});

test('a lane that was served is closed until the next round', () => {
  const lanes = openLanes();
  assert.equal(lanes.newRound(), false);
  lanes.served(['a', 'b']);
  assert.deepEqual(lanes.closed(), ['a', 'b']);
  assert.equal(lanes.newRound(), true);
  assert.deepEqual(lanes.closed(), []);
});
