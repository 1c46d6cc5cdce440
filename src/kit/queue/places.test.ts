import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newLane, openJobSlots } from './lanes.ts';

const never = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('a slot is granted if one is free, the lane has capacity, and no earlier job of the lane is waiting', async () => {
  const places = openJobSlots(3);
  const lane = newLane({ perLane: 2, perQuickLane: 3 });
  const inside: string[] = [];
  const come = (name: string, of = lane): void =>
    void places.take(of, never).then(
      () => inside.push(name),
      () => inside.push(`not ${name}`),
    );
  for (const name of ['first', 'second', 'third']) come(name);
  await settled();
  assert.deepEqual(inside, ['first', 'second'], 'the lane is full');
  lane.pace = 'quick';
  come('fourth');
  await settled();
  assert.deepEqual(inside, ['first', 'second'], 'it has room now, and who waits for it is first');
  places.giveBack(lane);
  await settled();
  assert.deepEqual(inside, ['first', 'second', 'third', 'fourth']);
  const other = newLane({ perLane: 2 });
  come('of another lane', other);
  await settled();
  assert.deepEqual(inside.length, 4, 'no place is left');
  places.giveBack(lane);
  await settled();
  assert.equal(inside[4], 'of another lane');
});

test('a request that is already aborted gets no slot and uses none', async () => {
  const places = openJobSlots(1);
  const lane = newLane({ perLane: 1 });
  await assert.rejects(places.take(lane, AbortSignal.abort(new Error('over'))), /over/);
  await places.take(lane, never);
  assert.equal(lane.inside, 1);
});
