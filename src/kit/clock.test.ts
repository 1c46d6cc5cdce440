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

test('after a clock that was a day ahead and went back, ids say the time of now; a step of minutes keeps their order', (t) => {
  const start = Date.parse('2027-03-01T12:00:00Z');
  t.mock.timers.enable({ apis: ['Date'], now: start });
  const before = newId();
  t.mock.timers.setTime(start + 60_000);
  const later = newId();
  t.mock.timers.setTime(start);
  assert.ok(newId() > later && later > before);
  t.mock.timers.setTime(start + 86_400_000);
  newId();
  t.mock.timers.setTime(start);
  assert.equal(timeOfId(newId()).getTime(), start);
});
