import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formLimits } from '#ast/basics/limits.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import { type EditNode, parseEditableTree, walkNodes } from './edit-node.ts';
import { canContain, listSpots } from './node-positions.ts';

const read = (...elements: object[]): EditNode => {
  const result = parseEditableTree(structure(...elements));
  if (!result.ok) throw new Error('not a tree');
  return result.root;
};
const find = (root: EditNode, id: string): EditNode =>
  [...walkNodes(root)].find(({ attrs }) => attrs['id'] === id)!;
/** Returns the ids of the groups and steps that accept an element. */
const takers = (root: EditNode, id: string): unknown[] => [
  ...new Set(
    listSpots(root, find(root, id)).map(({ parent }) => {
      const { type, attrs } = [...walkNodes(root)].find(({ key }) => key === parent)!;
      return attrs['id'] ?? type;
    }),
  ),
];
const group = (id: string, ...children: object[]): object => composite(id, children);
const rows = (id: string, ...children: object[]): object => composite(id, children, { repeatable: true });
/** Returns groups nested `deep` levels, named by their depth. */
const nested = (deep: number, id = 'depth'): object =>
  group(`${id}-${deep}`, ...(deep === 1 ? [element('text', `${id}-leaf`)] : [nested(deep - 1, id)]));

test('a repeatable group cannot be moved into a repeatable group, at any depth', () => {
  const root = read(
    rows('outer', element('text', 'a'), group('inside', element('text', 'b'))),
    rows('other', element('text', 'c')),
    group('around', rows('within', element('text', 'd'))),
  );
  assert.deepEqual(takers(root, 'other'), ['step', 'around']);
  assert.deepEqual(takers(root, 'around'), ['step']);
  assert.deepEqual(takers(root, 'c'), ['step', 'outer', 'inside', 'other', 'around', 'within']);
});

test('groups can be nested as deep as the limit, and no deeper', () => {
  const root = read(nested(formLimits.nesting - 1), group('one', element('text', 'a')), nested(2, 'two'));
  const fits = (id: string, into: string): boolean => canContain(root, find(root, into).key, find(root, id));
  const [innermost, around] = ['depth-1', 'depth-2'];
  assert.equal(fits('one', innermost), true);
  assert.equal(fits('two-2', innermost), false);
  assert.equal(fits('two-2', around), true);
  assert.equal(fits('a', innermost), true);
});
