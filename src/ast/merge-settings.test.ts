import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameJson } from './basics/json.ts';
import { changedSettings, mergeSettings } from './settings.ts';

const pairs: readonly (readonly [one: unknown, other: unknown, isSame: boolean])[] = [
  [1, 1, true],
  [1, '1', false],
  [null, {}, false],
  [{}, null, false],
  [[], {}, false],
  [{}, [], false],
  [[1, 2], [1, 2], true],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[1, 2], [2, 1], false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
];

for (const [one, other, isSame] of pairs) {
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} mean ${isSame ? 'the same' : 'something else'}`, () => {
    assert.equal(isSameJson(one, other), isSame);
    assert.equal(isSameJson(other, one), isSame);
  });
}

const base = { closed_message: 'Send', confirmation_message: 'Thanks', max_submissions: 10 };

test('a setting that only one of two people changed keeps that change', () => {
  const merged = mergeSettings(base, { ...base, closed_message: 'Go' }, { ...base, max_submissions: 20 });
  assert.deepEqual(merged, {
    settings: { ...base, closed_message: 'Go', max_submissions: 20 },
    conflicts: [],
  });
});

test('if both people changed a setting, mine is kept and reported as a conflict, unless both values are equal', () => {
  const mine = { ...base, closed_message: 'Go', max_submissions: 20 };
  const theirs = { ...base, closed_message: 'Off', max_submissions: 20 };
  assert.deepEqual(mergeSettings(base, mine, theirs), { settings: mine, conflicts: ['closed_message'] });
});

test('a setting that the other person removed is removed', () => {
  const { max_submissions: _gone, ...theirs } = base;
  assert.deepEqual(mergeSettings(base, base, theirs), { settings: theirs, conflicts: [] });
  assert.deepEqual(changedSettings(base, theirs), ['max_submissions']);
});
