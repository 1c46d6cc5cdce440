import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt, newId, now, timeOfId } from './clock.ts';

test('each id is greater than the one before it, within a millisecond and when the clock is set back', (t) => {
  const before = newId();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 60_000 });
  const ids = [before, ...Array.from({ length: 10_000 }, newId)];
  assert.deepEqual(ids, [...new Set(ids)].toSorted());
});

test('an id tells the millisecond in which it was made, and the least id of one is not greater than any made in it', () => {
  const earliest = now();
  const id = newId();
  const made = timeOfId(id);
  assert.ok(made >= earliest && made <= now());
  assert.ok(leastIdAt(made) <= id);
  assert.deepEqual(timeOfId(leastIdAt(made)), made);
});
