import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ComparisonLeaf,
  filterComparisons,
  listComparisons,
  parseConditionTree,
  replaceConditionPart,
  toStoredCondition,
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
  'two questions': { all: [{ element: 'age', is: 'less_than', other: 'limit' }] },
  'a list of values': { all: [{ element: 'country', is: 'one_of', value: ['DE', 'AT'] }] },
};

for (const [name, condition] of Object.entries(conditions)) {
  test(`a condition is read and written back unchanged: ${name}`, () => {
    assert.deepEqual(toStoredCondition(parseConditionTree(condition)!), condition);
  });
}

test('a single comparison is a group of one, and a double negation is removed', () => {
  assert.deepEqual(toStoredCondition(parseConditionTree(country)!), { all: [country] });
  assert.deepEqual(toStoredCondition(parseConditionTree({ not: country })!), { not: { any: [country] } });
  assert.deepEqual(toStoredCondition(parseConditionTree({ not: { not: { all: [age] } } })!), { all: [age] });
});

for (const condition of [null, 7, 'x', [], {}, { all: 1 }, { all: [{}] }, { element: 'a' }, { not: 0 }]) {
  test(`an invalid condition is not read: ${JSON.stringify(condition)}`, () => {
    assert.equal(parseConditionTree(condition), undefined);
  });
}

const nested = parseConditionTree(conditions['any, with a group inside'])!;

test('a part is changed in place, and removing the last part removes its empty group', () => {
  const changed = replaceConditionPart(nested, [1, 0], (part) => ({
    ...(part as ComparisonLeaf),
    is: 'less_than',
  }));
  assert.deepEqual(toStoredCondition(changed!), {
    any: [country, { all: [{ ...age, is: 'less_than' }, source] }],
  });
  const without = replaceConditionPart(nested, [1, 0], () => undefined)!;
  assert.deepEqual(toStoredCondition(replaceConditionPart(without, [1, 0], () => undefined)!), {
    any: [country],
  });
  assert.equal(
    replaceConditionPart(parseConditionTree(country)!, [0], () => undefined),
    undefined,
  );
});

test('filtering a condition keeps only the chosen comparisons', () => {
  const remaining = filterComparisons(nested, ({ subject }) => subject.name === 'source')!;
  assert.deepEqual(toStoredCondition(remaining), { any: [{ all: [source] }] });
  assert.equal(
    filterComparisons(nested, () => false),
    undefined,
  );
  assert.deepEqual(
    listComparisons(nested).map(({ subject }) => subject.name),
    ['country', 'age', 'source'],
  );
});
