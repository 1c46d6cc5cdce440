import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import {
  changeType,
  deleteNode,
  duplicateNodes,
  insertNode,
  moveNodes,
  setAttribute,
  setLabel,
  setOptions,
} from './edit.ts';
import { type EditNode, findNode, parseEditableTree, textOf, toStructure, walkNodes } from './edit-node.ts';
import { mergeStep, splitStep } from './edit-steps.ts';
import { idsOf } from './element-ids.ts';
import { findProblems } from './form-problems.ts';
import { type EditHistory, recordChange, redo, startHistory, undo } from './history.ts';
import { newElement, newStep } from './new-element.ts';
import { describePosition, listSpots, nextSpot, spotOf, toMoveSpot } from './node-positions.ts';

const read = (given: unknown): EditNode => {
  const result = parseEditableTree(given);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.root;
};
const byId = (root: EditNode, id: string): EditNode =>
  [...walkNodes(root)].find((node) => textOf(node, 'id') === id)!;
const idsIn = (node: EditNode): unknown[] =>
  node.children.map((child) =>
    child.children.length > 0 ? [textOf(child, 'id'), idsIn(child)] : textOf(child, 'id'),
  );
// An author chooses the file of an image later.
const types = (Object.keys(elementDefinitions) as ElementType[]).filter((type) => type !== 'image');
const noLocks: ReadonlySet<string> = new Set();

/** Returns a form of two steps with a composite inside a composite. */
const sample = () =>
  read({
    type: 'form',
    attrs: { name: 'Sample' },
    children: [
      {
        type: 'step',
        attrs: { title: 'One' },
        children: [
          element('text', 'a'),
          composite('group', [element('email', 'b'), composite('inner', [element('date', 'c')])]),
        ],
      },
      { type: 'step', attrs: { title: 'Two' }, children: [element('radio', 'd')] },
    ],
  });

/** Asserts what every tree has that operations make from a valid one. */
function checkShape(root: EditNode): void {
  const nodes = [...walkNodes(root)];
  assert.equal(new Set(nodes.map(({ key }) => key)).size, nodes.length, 'keys are unique');
  assert.ok(root.type === 'form' && root.children.length >= 1);
  for (const node of nodes) {
    const types = new Set(node.children.map(({ type }) => type));
    if (node.type === 'form') assert.deepEqual([...types], ['step']);
    else assert.ok(!types.has('step') && !types.has('form'));
    if (node.type !== 'form' && node.type !== 'step' && node.type !== 'composite')
      assert.equal(node.children.length, 0);
  }
  assert.deepEqual(findProblems(root), []);
}

type Operation = (root: EditNode, pick: (numbers: number) => EditNode, number: number) => EditNode;

const operations: Record<string, Operation> = {
  insert: (root, pick, number) => {
    const parent = pick(number);
    return insertNode(root, written(newElement(types[number % types.length]!, idsOf(root))), {
      parent: parent.key,
      index: number % (parent.children.length + 1),
    });
  },
  addStep: (root, _pick, number) =>
    insertNode(root, newStep('New'), { parent: root.key, index: number % (root.children.length + 1) }),
  move: (root, pick, number) => {
    const parent = pick(number * 7);
    return moveNodes(root, [pick(number).key], {
      parent: parent.key,
      index: number % (parent.children.length + 1),
    });
  },
  moveToSpot: (root, pick, number) => {
    const node = pick(number);
    const spots = listSpots(root, node);
    const spot = spots[number % Math.max(1, spots.length)];
    return spot && node !== root ? moveNodes(root, [node.key], toMoveSpot(root, node.key, spot)) : root;
  },
  duplicate: (root, pick, number) => duplicateNodes(root, [pick(number).key]).root,
  delete: (root, pick, number) => deleteNode(root, pick(number).key),
  label: (root, pick, number) => {
    const node = pick(number);
    return node.type === 'form' || node.type === 'step' || node.type === 'divider'
      ? root
      : setLabel(root, node.key, `Label ${number}`, noLocks);
  },
  required: (root, pick, number) =>
    pick(number).attrs['required'] === undefined
      ? root
      : setAttribute(root, pick(number).key, 'required', number % 2 === 0),
  type: (root, pick, number) => {
    const { key } = pick(number);
    const changed = changeType(root, key, types[number % types.length]!);
    const lists = Object.entries(written(findNode(changed, key)!).attrs);
    return changed === root
      ? root
      : lists.reduce((tree, [name, value]) => setAttribute(tree, key, name, value), changed);
  },
  merge: (root, pick, number) => mergeStep(root, pick(number).key),
  split: (root, pick, number) => splitStep(root, pick(number).key, newStep('Split')),
};

const sequences = fc.array(fc.tuple(fc.constantFrom(...Object.keys(operations)), fc.nat(10_000)), {
  maxLength: 60,
});

const apply = (root: EditNode, name: string, number: number): EditNode => {
  const nodes = [...walkNodes(root)];
  return operations[name]!(root, (index) => nodes[index % nodes.length]!, number);
};

test('any sequence of operations on a valid form keeps a valid form', () => {
  fc.assert(
    fc.property(sequences, (sequence) => {
      let root = sample();
      for (const [name, number] of sequence) root = apply(root, name, number);
      checkShape(root);
    }),
    { numRuns: 200 },
  );
});

test('undo restores the form before a change and redo the form after it, as identical objects', () => {
  fc.assert(
    fc.property(sequences, (sequence) => {
      let history: EditHistory = startHistory(sample(), {});
      const roots = [history.present.root];
      for (const [name, number] of sequence) {
        const { root } = history.present;
        history = recordChange(
          history,
          { ...history.present, root: apply(root, name, number) },
          undefined,
          0,
        );
        if (history.present.root !== roots.at(-1)) roots.push(history.present.root);
      }
      for (const root of roots.toReversed().slice(1)) {
        history = undo(history);
        assert.equal(history.present.root, root);
      }
      for (const root of roots.slice(1)) {
        history = redo(history);
        assert.equal(history.present.root, root);
      }
    }),
    { numRuns: 100 },
  );
});

test('a move keeps every node and changes only positions', () => {
  fc.assert(
    fc.property(fc.nat(10_000), (number) => {
      const root = sample();
      const moved = apply(root, 'move', number);
      const keys = (tree: EditNode) => [...walkNodes(tree)].map(({ key }) => key).sort();
      assert.deepEqual(keys(moved), keys(root));
    }),
  );
});

test('a structure is returned as it was sent, including unknown attributes and keys', () => {
  const sent = {
    type: 'form',
    attrs: { name: 'x', theme: { dark: true } },
    children: [
      { type: 'step', attrs: {}, children: [{ ...element('text', 'a', { logic: [1] }), note: 'kept' }] },
    ],
  };
  assert.deepEqual(toStructure(read(sent)), sent);
});

test('an invalid tree is refused with the path of its problem, and an incomplete form is not', () => {
  assert.ok(
    parseEditableTree({ type: 'form', children: [{ type: 'step', children: [{ type: 'nonsense' }] }] }).ok,
  );
  const result = parseEditableTree({
    type: 'form',
    attrs: {},
    children: [
      { type: 'text', attrs: {}, children: [] },
      { type: 'step', children: [4] },
    ],
  });
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ path }) => path),
    [[1, 0], [0]],
  );
});

test('duplicate: a copy follows the original, with new ids at every level', () => {
  const root = sample();
  const {
    root: changed,
    keys: [key],
  } = duplicateNodes(root, [byId(root, 'group').key]);
  assert.deepEqual(idsIn(changed.children[0]!), [
    'a',
    ['group', ['b', ['inner', ['c']]]],
    ['group_2', ['b_2', ['inner_2', ['c_2']]]],
  ]);
  assert.equal(textOf(findNode(changed, key!)!, 'id'), 'group_2');
});

test('a node cannot move into itself, a step not into a step, and a leaf has no children', () => {
  const root = sample();
  const [group, inner, leaf] = [byId(root, 'group'), byId(root, 'inner'), byId(root, 'a')];
  assert.equal(moveNodes(root, [group.key], { parent: inner.key, index: 0 }), root);
  assert.equal(moveNodes(root, [group.key], { parent: group.key, index: 0 }), root);
  assert.equal(moveNodes(root, [root.children[0]!.key], { parent: root.children[1]!.key, index: 0 }), root);
  assert.equal(moveNodes(root, [group.key], { parent: leaf.key, index: 0 }), root);
});

test('the keyboard moves an element through every position of the form, into composites and across steps, and back', () => {
  let root = sample();
  const { key } = byId(root, 'a');
  const seen: string[] = [describePosition(root, key)];
  for (let spot = nextSpot(root, key, 1); spot; spot = nextSpot(root, key, 1)) {
    root = moveNodes(root, [key], toMoveSpot(root, key, spot));
    seen.push(describePosition(root, key));
  }
  assert.deepEqual(seen, [
    'position 1 of 2, step 1',
    'position 1 of 3, in The group, step 1',
    'position 2 of 3, in The group, step 1',
    'position 1 of 2, in The inner, step 1',
    'position 2 of 2, in The inner, step 1',
    'position 3 of 3, in The group, step 1',
    'position 2 of 2, step 1',
    'position 1 of 2, step 2',
    'position 2 of 2, step 2',
  ]);
  const end = spotOf(root, key);
  root = moveNodes(root, [key], toMoveSpot(root, key, nextSpot(root, key, -1)!));
  root = moveNodes(root, [key], toMoveSpot(root, key, nextSpot(root, key, 1)!));
  assert.deepEqual(spotOf(root, key), end);
});

test('the id of a new element follows its label until a person types an id or it is locked', () => {
  let root = read(structure());
  const added = newElement('text', new Set());
  root = insertNode(root, added, { parent: root.children[0]!.key, index: 0 });
  const { key } = added;
  const idNow = () => textOf(findNode(root, key)!, 'id');
  root = setLabel(root, key, 'Full náme', noLocks);
  assert.equal(idNow(), 'full_name');
  root = setLabel(root, key, 'Surname', new Set(['full_name']));
  assert.equal(idNow(), 'full_name');
  root = setAttribute(root, key, 'id', 'chosen');
  root = setLabel(root, key, 'Other', noLocks);
  assert.equal(idNow(), 'chosen');
});

test('changing a label keeps an existing id, even one derived from the old label', () => {
  const full = { id: 'full_name', label: 'Full name' };
  let root = read(
    structure({ type: 'text', attrs: full }, { type: 'text', attrs: { id: 'text', label: 'Text' } }),
  );
  for (const { key, attrs } of root.children[0]!.children) {
    const renamed = setLabel(root, key, 'Another label', noLocks);
    assert.equal(findNode(renamed, key)!.attrs['id'], attrs['id']);
  }
  // The id also stays after undo, after copy and paste, and in a window that loads the saved form.
  const added = newElement('text', idsOf(root));
  root = insertNode(root, added, { parent: root.children[0]!.key, index: 0 });
  root = setLabel(root, added.key, 'Street', noLocks);
  assert.equal(findNode(root, added.key)!.attrs['id'], 'street');
  const reread = read(toStructure(root));
  const { key } = reread.children[0]!.children[0]!;
  assert.equal(findNode(setLabel(reread, key, 'Road', noLocks), key)!.attrs['id'], 'street');
  // A copy gets a new id, which no person chose.
  const { root: withCopy, keys } = duplicateNodes(root, [root.children[0]!.children[1]!.key]);
  assert.equal(findNode(withCopy, keys[0]!)!.attrs['id'], 'full_name_2');
  const renamed = setLabel(withCopy, keys[0]!, 'Birth name', noLocks);
  assert.equal(findNode(renamed, keys[0]!)!.attrs['id'], 'birth_name');
  assert.ok([...walkNodes(renamed)].some(({ attrs }) => attrs['id'] === 'full_name'));
});

/** Returns a new element with its options filled in. */
function written(node: EditNode): EditNode {
  const lists = ['options', 'rows'].filter((name) => name in node.attrs);
  return {
    ...node,
    attrs: { ...node.attrs, ...Object.fromEntries(lists.map((name) => [name, ['Red', 'Blue']])) },
  };
}

const newElementStructure = (type: ElementType) => toStructure(newElement(type, new Set()));

for (const type of types) {
  test(`a new ${type} only lacks its options: with them the form can be published`, () => {
    const node = newElement(type, new Set());
    assert.deepEqual(findProblems(read(structure(toStructure(written(node))))), []);
    const lists = ['options', 'rows'].filter((name) => name in node.attrs);
    const blank = findProblems(read(structure(toStructure(node))));
    assert.equal(blank.length, lists.length, 'empty texts cannot be published');
  });
}

test('a new image lacks only its file and its alternative text', () => {
  assert.deepEqual(
    findProblems(read(structure(newElementStructure('image')))).map(({ message }) => message),
    ['image', 'alt'].map((name) => `A required attribute is missing: "${name}".`),
  );
});

test('each problem links to its node', () => {
  const root = read({
    type: 'form',
    attrs: {},
    children: [
      { type: 'step', attrs: {}, children: [element('text', 'a'), composite('g', [element('text', 'a')])] },
    ],
  });
  const found = findProblems(root).map(({ key, message }) => [findNode(root, key)!.type, message]);
  assert.deepEqual(found, [
    ['form', 'A required attribute is missing: "name".'],
    ['text', 'Element ids must be unique: "a" is used more than once.'],
  ]);
});

test('right answers follow a renamed option, stay when options move, and end with a removed one', () => {
  const before = read(structure(element('radio', 'q', { correct: ['Green'] })));
  const correctAfter = (options: string[]): unknown =>
    byId(setOptions(before, byId(before, 'q').key, options), 'q').attrs['correct'];
  assert.deepEqual(correctAfter(['Red', 'Lime', 'Blue']), ['Lime']);
  assert.deepEqual(correctAfter(['Green', 'Red', 'Blue']), ['Green']);
  assert.deepEqual(correctAfter(['Green', 'Blue']), ['Green']);
  assert.equal(correctAfter(['Red', 'Blue']), undefined);
});
