import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Column } from '#submissions/shapes.ts';
import { conditionsOfQuery } from './condition-draft.ts';
import {
  describeCondition,
  type FilterCondition,
  type GroupPart,
  parseFilterConditions,
  toApiParameters,
} from './conditions.ts';
import { changePart, countConditions, readTree, swapJoiners, writeTree } from './filter-tree.ts';

test('every valid condition in a URL is described, and invalid ones are left out', () => {
  const valid = [
    { on: 'answer', name: 'colour', op: 'any', values: ['Red', 'Blue'] },
    { on: 'answer', name: 'age', op: 'number', from: 3 },
    { on: 'reference', name: 'campaign', op: 'filled' },
    { on: 'version', op: 'equals', value: 2 },
    { on: 'group', op: 'any', parts: [{ on: 'answer', name: 'a', op: 'filled' }] },
  ];
  const nonsense = [
    { on: 'answer', name: 'colour', op: 'any' },
    { on: 'answer', name: 'colour', op: 'all', values: 'Red' },
    { on: 'answer', name: 'colour', op: 'filled', values: ['Red'] },
    { on: 'answer', op: 'filled' },
    { on: 'answer', name: 'colour', op: 'like' },
    'colour',
    { on: 'group', op: 'any', parts: [] },
    { on: 'group', op: 'any', parts: [{ on: 'version', op: 'equals', value: 2 }] },
    { on: 'group', op: 'filled', parts: [{ on: 'answer', name: 'a', op: 'filled' }] },
  ];
  const read = parseFilterConditions([...nonsense, ...valid]);
  assert.deepEqual(read, valid);
  assert.deepEqual(
    read.map((condition) => describeCondition(condition, [])),
    [
      'colour is any of Red, Blue',
      'age is at least 3',
      'campaign is answered',
      'Version is 2',
      '(a is answered)',
    ],
  );
});

test('a filter is sent as a condition of the form language, with the version as a separate parameter', () => {
  const [name, campaign] = [{ on: 'answer', name: 'q' } as const, { on: 'reference', name: 'c' } as const];
  const element = { element: 'q' };
  const { where, version } = toApiParameters([
    { ...name, op: 'contains', value: 'a' },
    { ...name, op: 'equals', value: true },
    { ...campaign, op: 'empty' },
    { ...name, op: 'number', from: 1, to: 2 },
    { ...name, op: 'time' },
    { ...name, op: 'any', values: ['x', 'y'] },
    { ...name, op: 'all', values: ['x', 'y'] },
    { on: 'version', op: 'equals', value: 3 },
  ]);
  const [x, y] = ['x', 'y'].map((value) => ({ ...element, is: 'one_of', value: [value] }));
  assert.deepEqual(JSON.parse(where!), {
    all: [
      { ...element, is: 'contains', value: 'a' },
      { ...element, is: 'equals', value: true },
      { reference: 'c', is: 'not_answered' },
      { ...element, is: 'at_least', value: 1 },
      { ...element, is: 'at_most', value: 2 },
      { ...element, is: 'answered' },
      { any: [x, y] },
      x,
      y,
    ],
  });
  assert.equal(version, 3);
  assert.deepEqual(toApiParameters([]), {});
});

test('a sent filter reads back as the chosen conditions, and conditions only the API can express are kept', () => {
  const chosen: FilterCondition[] = [
    { on: 'answer', name: 'q', op: 'contains', value: 'x' },
    { on: 'answer', name: 'agreed', op: 'equals', value: false },
    { on: 'reference', name: 'campaign', op: 'equals', value: 'spring' },
    { on: 'answer', name: 'age', op: 'number', from: 3, to: 5 },
    { on: 'answer', name: 'day', op: 'time', to: '2026-01-31' },
    { on: 'answer', name: 'colour', op: 'any', values: ['Red', 'Blue'] },
    { on: 'answer', name: 'colours', op: 'all', values: ['Red', 'Blue'] },
    { on: 'answer', name: 'pleased', row: 'Food', op: 'any', values: ['good', 'fair'] },
    { on: 'answer', name: 'pleased', row: 'Room', op: 'all', values: ['good'] },
    { on: 'answer', name: 'pleased', row: 'Bed', op: 'empty' },
    { on: 'answer', name: 'photo', op: 'filled' },
    { on: 'reference', name: 'ref', op: 'empty' },
    { on: 'version', op: 'equals', value: 2 },
  ];
  assert.deepEqual(conditionsOfQuery(toApiParameters(chosen)), chosen);
  const parameters = {
    where: '{"all":[{"not":{"element":"q","is":"answered"}}]}',
    completed_from: '2026-01-01T00:00:00Z',
    tag: 'vip',
  };
  const [condition] = conditionsOfQuery(parameters);
  assert.deepEqual(parseFilterConditions([condition]), [condition]);
  assert.deepEqual(toApiParameters([condition!]), parameters);
  assert.match(
    describeCondition(condition!, []),
    /^Completed from .*, tagged “vip”, a condition set through the API$/,
  );
});

test('groups of filters are sent, read back and changed by their path', () => {
  const is = (name: string): GroupPart => ({ on: 'answer', name, op: 'contains', value: name });
  const range: GroupPart = { on: 'answer', name: 'age', op: 'number', from: 3, to: 5 };
  const both: GroupPart = { on: 'group', op: 'all', parts: [is('b'), range] };
  const either: GroupPart = { on: 'group', op: 'any', parts: [is('a'), range, both] };
  for (const chosen of [[either], [is('c'), either], [is('c'), either, is('d')]])
    assert.deepEqual(conditionsOfQuery(toApiParameters(chosen)), chosen);

  const { root, ungrouped } = readTree([is('c'), either, { on: 'version', op: 'equals', value: 2 }]);
  assert.deepEqual([root.op, root.parts.length, ungrouped.length], ['all', 2, 1]);
  assert.deepEqual(swapJoiners(swapJoiners(root)), root);
  const added = changePart(root, [2, 0], is('new'));
  assert.deepEqual(added.parts[2], { on: 'group', op: 'any', parts: [is('new')] });
  assert.deepEqual(changePart(added, [2, 0], undefined), root, 'an empty group is removed');
  assert.equal(countConditions(writeTree({ root, ungrouped })), 6);
  assert.equal(
    describeCondition(either, []),
    '(a contains “a” or age is between 3 and 5 or (b contains “b” and age is between 3 and 5))',
  );
});

test('a stage and an assignee are described by name; a deleted stage and a former member have a general label', () => {
  const column = (id: string, label: string, option_labels: Record<string, string>): Column => ({
    id,
    label,
    type: 'dropdown',
    options: Object.keys(option_labels),
    option_labels,
    rows: [],
    inputs: [],
    is_retired: false,
  });
  const columns = [
    column('$stage', 'Stage', { done: 'Done' }),
    column('$assignee', 'Assignee', { a: 'Ada' }),
  ];
  const describe = (name: string, test: object): string =>
    describeCondition({ on: 'answer', name, ...test } as FilterCondition, columns);
  assert.equal(
    describe('$stage', { op: 'any', values: ['done', 'x'] }),
    'Stage is any of Done, a deleted stage',
  );
  assert.equal(
    describe('$assignee', { op: 'any', values: ['a', 'b'] }),
    'Assignee is any of Ada, a former member',
  );
  assert.equal(describe('$assignee', { op: 'empty' }), 'Assignee is no one');
  assert.equal(describe('$assignee', { op: 'filled' }), 'Assignee is anyone');
});
