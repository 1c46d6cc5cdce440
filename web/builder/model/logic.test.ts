import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { validateStructure } from '#ast/validate.ts';
import { composite, element } from '#test/ast/forms.ts';
import {
  comparisonSubject,
  newComparison,
  withOperator,
  withSubject,
} from '../../conditions/condition-tree.ts';
import { formatSentence } from '../../conditions/describe-condition.ts';
import { listBrokenReferences, removeBrokenReferences } from './broken-references.ts';
import { describeLogic } from './describe-logic.ts';
import { deleteNode, duplicateNodes, moveNodes, setId, setLabel, setOptions } from './edit.ts';
import { type EditNode, parseEditableTree, textOf, toStructure, walkNodes } from './edit-node.ts';
import { mergeStep, splitStep } from './edit-steps.ts';
import { attributeSpecsOfNode } from './form-problems.ts';
import { newStep } from './new-element.ts';
import { listConditionNodes, listShowableQuestions } from './referable-nodes.ts';
import { jumpsOf, listNodeReferences } from './references.ts';
import { ensureStepId } from './step-ids.ts';

const inCountry = { element: 'country', is: 'equals', value: 'Red' };
const steps = [
  [
    element('radio', 'country', { label: 'Country' }),
    element('text', 'state', { label: 'State', show_when: inCountry }),
    composite('people', [element('text', 'who'), element('number', 'age')], { repeatable: true }),
  ],
  [composite('group', [element('date', 'day')]), element('heading', 'title')],
  [element('email', 'email', { require_when: { any: [inCountry, { reference: 'vip', is: 'answered' }] } })],
];

function form(attrs: readonly object[] = [{}, {}, {}], children: readonly unknown[][] = steps): EditNode {
  const read = parseEditableTree({
    type: 'form',
    attrs: { name: 'Form' },
    children: children.map((inside, index) => ({
      type: 'step',
      attrs: { title: `Step ${index + 1}`, ...attrs[index] },
      children: inside,
    })),
  });
  assert.ok(read.ok);
  return read.root;
}

const byId = (root: EditNode, id: string): EditNode =>
  [...walkNodes(root)].find((node) => textOf(node, 'id') === id)!;
const keyOf = (root: EditNode, id: string): string => byId(root, id).key;
const describe = (root: EditNode, id: string): string[] =>
  describeLogic(root, byId(root, id)).map(formatSentence);

test('conditions of options and matrix rows are described, follow new ids, and are removed with what they reference', () => {
  const when = { element: 'likes', row: 'Tea', is: 'equals', value: 'Red' };
  const options = [
    'Any',
    { id: 'x', label: 'Large', points: 1, show_when: when },
    { id: 'y', label: 'y', show_when: when },
  ];
  const root = form(undefined, [
    [element('matrix', 'likes', { label: 'Likes' }), element('radio', 'size', { options })],
  ]);
  const optionsOf = (node: EditNode): unknown => byId(node, 'size').attrs['options'];
  assert.deepEqual(describe(root, 'size'), [
    '“Large” offered if “Likes (Tea)” is “Red”',
    '“y” offered if “Likes (Tea)” is “Red”',
  ]);
  const renamed = setOptions(
    setId(root, keyOf(root, 'likes'), 'tastes'),
    keyOf(root, 'likes'),
    ['Chai', 'Coffee'],
    'rows',
  );
  const now = { all: [{ ...when, element: 'tastes', row: 'Chai' }] };
  assert.deepEqual(optionsOf(renamed), [
    'Any',
    { id: 'x', label: 'Large', points: 1, show_when: now },
    { id: 'y', label: 'y', show_when: now },
  ]);
  const without = setOptions(root, keyOf(root, 'likes'), ['Coffee'], 'rows');
  const broken = listBrokenReferences(root, without);
  assert.deepEqual(
    broken.map(({ attribute, name, row }) => [attribute, name, row]),
    [1, 2].map(() => ['options', 'likes', 'Tea']),
  );
  assert.deepEqual(optionsOf(removeBrokenReferences(without, broken)), [
    'Any',
    { id: 'x', label: 'Large', points: 1 },
    'y',
  ]);
});

test('the builder lets a condition reference exactly what the service accepts', () => {
  const root = form(undefined, [
    [
      element('radio', 'country'),
      composite('people', [element('text', 'who'), element('number', 'age')], { repeatable: true }),
    ],
    [composite('group', [element('date', 'day')]), element('heading', 'title')],
    [element('email', 'email'), element('file_upload', 'files')],
  ]);
  const nodes = [...walkNodes(root)].filter(({ type }) => type !== 'form');
  let pairs = 0;
  for (const source of nodes) {
    for (const attribute of ['show_when', 'valid_when'] as const) {
      if (attribute === 'valid_when' && !('valid_when' in attributeSpecsOfNode(source))) continue;
      const may = new Set(listConditionNodes(root, source, attribute).map((node) => textOf(node, 'id')));
      for (const id of nodes.map((node) => textOf(node, 'id')).filter(Boolean)) {
        const withCondition = structuredClone(toStructure(root));
        const path = pathTo(root, source.key);
        const node = path.reduce<{ attrs: Record<string, unknown>; children: never[] }>(
          (inside, index) => inside.children[index]!,
          withCondition as never,
        );
        node.attrs[attribute] = { element: id, is: 'answered' };
        const result = validateStructure(withCondition);
        const refused = result.ok ? '' : result.errors.map(({ message }) => message).join(' ');
        assert.equal(
          may.has(id),
          result.ok,
          `${source.type} ${textOf(source, 'id')} names ${id}: ${refused}`,
        );
        pairs += 1;
      }
    }
  }
  assert.ok(pairs > 50);
});

function pathTo(root: EditNode, key: string): number[] {
  for (const [index, child] of root.children.entries()) {
    if (child.key === key) return [index];
    const rest = pathTo(child, key);
    if (rest.length > 0) return [index, ...rest];
  }
  return [];
}

test('a comparison with another question is described, follows a renamed question, and goes with a deleted one', () => {
  const rule = { element: 'end', is: 'after', other: 'start' };
  const children = [
    [
      element('date', 'start', { label: 'Start' }),
      element('date', 'end', { label: 'End', valid_when: rule }),
      element('text', 'note', { show_when: { any: [rule, { element: 'end', is: 'not_answered' }] } }),
    ],
  ];
  const root = form([{}], children);
  const described = (tree: EditNode, id: string) => describeLogic(tree, byId(tree, id)).map(formatSentence);
  assert.deepEqual(described(root, 'end'), ['Valid if “End” is after “Start”']);
  const renamed = setId(root, byId(root, 'start').key, 'begin');
  assert.deepEqual(described(renamed, 'end'), ['Valid if “End” is after “Start”']);
  assert.equal(listBrokenReferences(root, renamed).length, 0);
  const without = deleteNode(root, byId(root, 'start').key);
  const broken = listBrokenReferences(root, without);
  assert.deepEqual(
    broken.map(({ attribute, name }) => [attribute, name]),
    [
      ['valid_when', 'start'],
      ['show_when', 'start'],
    ],
  );
  const cleaned = removeBrokenReferences(without, broken);
  assert.equal(byId(cleaned, 'end').attrs['valid_when'], undefined);
  assert.deepEqual(described(cleaned, 'note'), ['Shown if “End” is not answered']);
});

test('B7: rules are described in plain sentences', () => {
  const root = form([
    {},
    { hide_when: { not: { all: [inCountry, { element: 'state', is: 'not_answered' }] } } },
    { id: 'last' },
  ]);
  assert.deepEqual(describe(root, 'state'), ['Shown if “Country” is “Red”']);
  assert.deepEqual(describe(root, 'email'), [
    'Required if “Country” is “Red” or the URL parameter “vip” is answered',
  ]);
  assert.deepEqual(describeLogic(root, root.children[1]!).map(formatSentence), [
    'Hidden unless “Country” is “Red” and “State” is not answered',
  ]);
  const jumping = form([{ jumps: [{ when: inCountry, to: 'last' }, { to: 'end' }] }, {}, { id: 'last' }]);
  assert.deepEqual(describeLogic(jumping, jumping.children[0]!).map(formatSentence), [
    'Skips to “Step 3” if “Country” is “Red”',
    'Skips to the end',
  ]);
});

test('B7: deleting a referenced element lists its dependents, and their conditions can be removed with it', () => {
  const before = form();
  const after = deleteNode(before, keyOf(before, 'country'));
  const broken = listBrokenReferences(before, after);
  assert.deepEqual(
    broken.map(({ from, attribute }) => [from, attribute]),
    [
      [keyOf(before, 'state'), 'show_when'],
      [keyOf(before, 'email'), 'require_when'],
    ],
  );
  const cleaned = removeBrokenReferences(after, broken);
  assert.equal(byId(cleaned, 'state').attrs['show_when'], undefined);
  assert.deepEqual(byId(cleaned, 'email').attrs['require_when'], {
    any: [{ reference: 'vip', is: 'answered' }],
  });
  assert.deepEqual(validateStructure(toStructure(cleaned)).ok, true);
});

test('B7: moving an element behind one that references it breaks the reference, and moving it elsewhere does not', () => {
  const before = form();
  const country = keyOf(before, 'country');
  const later = moveNodes(before, [country], { parent: before.children[1]!.key, index: 0 });
  assert.deepEqual(
    listBrokenReferences(before, later).map(({ from }) => from),
    [keyOf(before, 'state')],
  );
  const within = moveNodes(before, [country], { parent: before.children[0]!.key, index: 3 });
  assert.deepEqual(listBrokenReferences(before, within), []);
});

test('a jump breaks if its target step is deleted or moved before it', () => {
  const before = form([{ jumps: [{ when: inCountry, to: 'last' }] }, {}, { id: 'last' }]);
  const [first, , last] = before.children;
  for (const after of [
    deleteNode(before, last!.key),
    moveNodes(before, [last!.key], { parent: before.key, index: 0 }),
  ]) {
    const broken = listBrokenReferences(before, after).filter(({ of }) => of === 'step');
    assert.deepEqual(
      broken.map(({ from, name }) => [from, name]),
      [[first!.key, 'last']],
    );
    const cleaned = removeBrokenReferences(after, listBrokenReferences(before, after));
    assert.deepEqual(cleaned.children.flatMap(jumpsOf), []);
  }
});

test('conditions follow an id that is typed or derived from a label, and a rewritten option', () => {
  const before = form();
  const renamed = setId(before, keyOf(before, 'country'), 'land');
  assert.deepEqual(byId(renamed, 'state').attrs['show_when'], { all: [{ ...inCountry, element: 'land' }] });
  assert.deepEqual(listBrokenReferences(before, renamed), []);
  const labelled = setLabel(before, keyOf(before, 'country'), 'Home country', new Set());
  assert.ok(listNodeReferences(labelled).every(({ holds }) => holds));
  const rewritten = setOptions(before, keyOf(before, 'country'), ['Crimson', 'Green', 'Blue']);
  assert.deepEqual(describe(rewritten, 'state'), ['Shown if “Country” is “Crimson”']);
  const relabelled = setOptions(before, keyOf(before, 'country'), [
    { id: 'Red', label: 'Crimson' },
    'Green',
    'Blue',
  ]);
  assert.deepEqual(describe(relabelled, 'state'), ['Shown if “Country” is “Crimson”']);
  assert.deepEqual(byId(relabelled, 'state').attrs['show_when'], inCountry);
  const reordered = setOptions(before, keyOf(before, 'country'), ['Green', 'Red', 'Blue']);
  assert.deepEqual(describe(reordered, 'state'), ['Shown if “Country” is “Red”']);
});

test('a duplicate refers to elements duplicated with it, and otherwise to those of the original', () => {
  const root = form(undefined, [
    [
      element('radio', 'country'),
      composite('box', [
        element('yes_no', 'more'),
        element('text', 'inner', { show_when: { element: 'more', is: 'equals', value: true } }),
        element('text', 'outer', { show_when: inCountry }),
      ]),
    ],
  ]);
  const { root: copied } = duplicateNodes(root, [keyOf(root, 'box')]);
  assert.deepEqual(byId(copied, 'inner_2').attrs['show_when'], {
    all: [{ element: 'more_2', is: 'equals', value: true }],
  });
  assert.deepEqual(byId(copied, 'outer_2').attrs['show_when'], inCountry);
});

test('merging or splitting a step keeps the visibility of every element and the jumps', () => {
  const shown = { element: 'country', is: 'answered' };
  const root = form([{}, { show_when: shown }, { id: 'last' }]);
  const merged = mergeStep(root, root.children[1]!.key);
  assert.deepEqual(byId(merged, 'group').attrs['show_when'], shown);
  assert.deepEqual(validateStructure(toStructure(merged)).ok, true);

  const jumps = [{ when: inCountry, to: 'last' }];
  const whole = form([{ jumps }, {}, { id: 'last' }]);
  const split = splitStep(whole, keyOf(whole, 'people'), newStep('New'));
  assert.deepEqual(split.children.slice(0, 2).map(jumpsOf), [[], jumps]);
  assert.deepEqual(listBrokenReferences(whole, split), []);
});

test('a text that shows an answer follows a renamed question, and deleting the question asks first and removes the placeholder', () => {
  const before = form(undefined, [
    [element('text', 'name')],
    [element('text', 'why', { label: 'Why, {{name}}?', help_text: '{{ name }} and {{other}}' })],
  ]);
  const renamed = setId(before, keyOf(before, 'name'), 'full_name');
  assert.equal(textOf(byId(renamed, 'why'), 'label'), 'Why, {{full_name}}?');
  assert.equal(textOf(byId(renamed, 'why'), 'help_text'), '{{full_name}} and {{other}}');
  const after = deleteNode(before, keyOf(before, 'name'));
  const broken = listBrokenReferences(before, after);
  assert.deepEqual(
    broken.map(({ attribute, name }) => [attribute, name]),
    [
      ['label', 'name'],
      ['help_text', 'name'],
    ],
  );
  assert.equal(textOf(byId(removeBrokenReferences(after, broken), 'why'), 'label'), 'Why, ?');
  const moved = moveNodes(before, [keyOf(before, 'name')], { parent: before.children[1]!.key, index: 1 });
  assert.equal(listBrokenReferences(before, moved).length, 2, 'what comes later cannot be shown');
  const ids = (id: string) =>
    listShowableQuestions(before, byId(before, id)).map((node) => textOf(node, 'id'));
  assert.deepEqual([ids('why'), ids('name')], [['name'], []]);
});

test('a step gets an id from its title when a jump first references it, and keeps the id', () => {
  const root = form();
  const named = ensureStepId(root, root.children[2]!.key);
  assert.equal(named.id, 'step_3');
  assert.equal(textOf(named.root.children[2]!, 'id'), 'step_3');
  assert.equal(ensureStepId(named.root, root.children[2]!.key).root, named.root);
});

test('a new comparison is complete if a value can be suggested', () => {
  const root = form();
  assert.deepEqual(newComparison(byId(root, 'country')), {
    kind: 'leaf',
    subject: { of: 'element', name: 'country' },
    is: 'equals',
    value: 'Red',
  });
  const leaf = withOperator(
    newComparison(byId(root, 'country')),
    comparisonSubject(byId(root, 'country')),
    'one_of',
  );
  assert.deepEqual(leaf.value, ['Red']);
  assert.equal(withOperator(leaf, comparisonSubject(byId(root, 'country')), 'answered').value, undefined);
  assert.deepEqual(withSubject(leaf, byId(root, 'people')), {
    kind: 'leaf',
    subject: { of: 'element', name: 'people' },
    is: 'answered',
  });
});

const edits: readonly ((root: EditNode, nodes: readonly EditNode[], number: number) => EditNode)[] = [
  (root, nodes, number) => deleteNode(root, nodes[number % nodes.length]!.key),
  (root, nodes, number) => {
    const parent = nodes[(number * 7) % nodes.length]!;
    const index = number % (parent.children.length + 1);
    return moveNodes(root, [nodes[number % nodes.length]!.key], { parent: parent.key, index });
  },
  (root, nodes, number) => duplicateNodes(root, [nodes[number % nodes.length]!.key]).root,
  (root, nodes, number) => mergeStep(root, nodes[number % nodes.length]!.key),
  (root, nodes, number) => splitStep(root, nodes[number % nodes.length]!.key, newStep('Split')),
  (root, nodes, number) => {
    const node = nodes[number % nodes.length]!;
    return node.type === 'form' || node.type === 'step'
      ? root
      : setLabel(root, node.key, `Label ${number}`, new Set());
  },
];

test('B7: after any edit, removing the broken conditions leaves a valid form', () => {
  const sequences = fc.array(fc.tuple(fc.nat(edits.length - 1), fc.nat(10_000)), { maxLength: 25 });
  fc.assert(
    fc.property(sequences, (sequence) => {
      let root = form([
        {},
        { id: 'second', show_when: { all: [inCountry] }, jumps: [{ when: inCountry, to: 'last' }] },
        { id: 'last', hide_when: { element: 'day', is: 'less_than', value: 'today' } },
      ]);
      for (const [edit, number] of sequence) {
        const edited = edits[edit]!(root, [...walkNodes(root)], number);
        root = removeBrokenReferences(edited, listBrokenReferences(root, edited));
        const result = validateStructure(toStructure(root));
        assert.deepEqual(result.ok ? [] : result.errors, []);
      }
    }),
    { numRuns: 200 },
  );
});
