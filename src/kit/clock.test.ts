import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt, newId, now, timeOfId } from './clock.ts';

test('each ID is greater than the previous one, within a millisecond and after the clock is set back', (t) => {
  const before = newId();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 60_000 });
  const ids = [before, ...Array.from({ length: 10_000 }, newId)];
  assert.deepEqual(ids, [...new Set(ids)].toSorted());
});

test('an ID contains its millisecond, and the smallest ID of a millisecond is not greater than any ID made in it', () => {
  const earliest = now();
  const id = newId();
  const created = timeOfId(id);
  assert.ok(created >= earliest && created <= now());
  assert.ok(leastIdAt(created) <= id);
  assert.deepEqual(timeOfId(leastIdAt(created)), created);
});

test('after a clock returns from a day ahead, IDs follow the current time; after a step of minutes they keep their order', (t) => {
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
