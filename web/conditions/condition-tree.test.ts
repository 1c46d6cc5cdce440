import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changePart,
  keepLeaves,
  type Leaf,
  leavesOf,
  readCondition,
  writeCondition,
} from './condition-tree.ts';

const country = { element: 'country', is: 'equals', value: 'DE' };
const age = { element: 'age', is: 'at_least', value: 18 };
const source = { reference: 'source', is: 'answered' };

const conditions: Readonly<Record<string, object>> = {
  'all of two': { all: [country, age] },
  'any, with a group inside': { any: [country, { all: [age, source] }] },
  'none of two': { not: { any: [country, age] } },
  'not all of two': { not: { all: [country, age] } },
  'a negation inside': { all: [source, { not: { any: [age] } }] },
  'a list of values': { all: [{ element: 'country', is: 'one_of', value: ['DE', 'AT'] }] },
};

for (const [name, condition] of Object.entries(conditions)) {
  test(`a condition is read and written back unchanged: ${name}`, () => {
    assert.deepEqual(writeCondition(readCondition(condition)!), condition);
  });
}

test('a single comparison is a group of one, and a double negation is removed', () => {
  assert.deepEqual(writeCondition(readCondition(country)!), { all: [country] });
  assert.deepEqual(writeCondition(readCondition({ not: country })!), { not: { any: [country] } });
  assert.deepEqual(writeCondition(readCondition({ not: { not: { all: [age] } } })!), { all: [age] });
});

for (const condition of [null, 7, 'x', [], {}, { all: 1 }, { all: [{}] }, { element: 'a' }, { not: 0 }]) {
  test(`an invalid condition is not read: ${JSON.stringify(condition)}`, () => {
    assert.equal(readCondition(condition), undefined);
  });
}

const nested = readCondition(conditions['any, with a group inside'])!;

test('a part is changed in place, and removing the last part removes its empty group', () => {
  const changed = changePart(nested, [1, 0], (part) => ({ ...(part as Leaf), is: 'less_than' }));
  assert.deepEqual(writeCondition(changed!), {
    any: [country, { all: [{ ...age, is: 'less_than' }, source] }],
  });
  const without = changePart(nested, [1, 0], () => undefined)!;
  assert.deepEqual(writeCondition(changePart(without, [1, 0], () => undefined)!), { any: [country] });
  assert.equal(
    changePart(readCondition(country)!, [0], () => undefined),
    undefined,
  );
});

test('filtering a condition keeps only the chosen comparisons', () => {
  const kept = keepLeaves(nested, ({ subject }) => subject.name === 'source')!;
  assert.deepEqual(writeCondition(kept), { any: [{ all: [source] }] });
  assert.equal(
    keepLeaves(nested, () => false),
    undefined,
  );
  assert.deepEqual(
    leavesOf(nested).map(({ subject }) => subject.name),
    ['country', 'age', 'source'],
  );
});
