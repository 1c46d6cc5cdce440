import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, stepsOf, structure } from '#test/ast/forms.ts';
import { formatClipboardNodes, insertPastedNodes, parseClipboardNodes } from './clipboard.ts';
import { moveNodes } from './edit.ts';
import { type EditNode, parseEditableTree, textOf, walkNodes } from './edit-node.ts';
import {
  selectedNodes,
  selectionRangeOf,
  toggleInSelection,
  topmostNodes,
  widenSelection,
} from './node-positions.ts';

const read = (sent: unknown): EditNode => {
  const result = parseEditableTree(sent);
  assert.ok(result.ok);
  return result.root;
};
const byId = (root: EditNode, id: string): EditNode =>
  [...walkNodes(root)].find((node) => textOf(node, 'id') === id)!;
const keyOf = (root: EditNode, ...ids: string[]): string[] => ids.map((id) => byId(root, id).key);
const idsIn = (nodes: readonly EditNode[]): string[] => nodes.map((node) => textOf(node, 'id'));
const pasted = (root: EditNode, text: string, selection: string) => {
  const parts = parseClipboardNodes(text);
  assert.ok(parts.ok, parts.ok ? '' : parts.message);
  const result = insertPastedNodes(root, parts.parts, selection);
  assert.ok(typeof result !== 'string');
  return result;
};

const source = structure(
  element('radio', 'country', { label: 'Country', options: ['UK', 'Chile'] }),
  element('text', 'why', {
    label: 'Why {{name}}?',
    show_when: {
      all: [
        { element: 'country', is: 'equals', value: 'UK' },
        { element: 'name', is: 'answered' },
      ],
    },
  }),
  element('text', 'name', { label: 'Name' }),
);

test('copies pasted into another form get new ids where ids collide, and conditions among the copies follow', () => {
  const from = read(source);
  const text = formatClipboardNodes(topmostNodes(from, keyOf(from, 'why', 'country', 'name')));
  const to = read(
    structure(element('text', 'country', { label: 'A country' }), element('text', 'last', { label: 'Last' })),
  );
  const { root, keys, dropped, problems } = pasted(to, text, byId(to, 'country').key);
  assert.deepEqual(idsIn(root.children[0]!.children), ['country', 'country_2', 'why', 'name', 'last']);
  assert.deepEqual(idsIn(topmostNodes(root, keys)), ['country_2', 'why', 'name']);
  assert.ok(JSON.stringify(byId(root, 'why').attrs['show_when']).includes('"country_2"'));
  assert.deepEqual([dropped > 0, problems], [true, []], 'what names a later question cannot stay');
});

test('references from copies to other elements stay if the form has those elements, and are removed otherwise', () => {
  const from = read(structure(...source.children![0]!.children!.toReversed()));
  const text = formatClipboardNodes([byId(from, 'why')]);
  const same = pasted(from, text, byId(from, 'country').key);
  assert.equal(same.dropped, 0);
  assert.equal(textOf(byId(same.root, 'why_2'), 'label'), 'Why {{name}}?');
  const other = pasted(read(structure(element('text', 'a', { label: 'A' }))), text, '');
  assert.equal(other.dropped, 3);
  assert.deepEqual(byId(other.root, 'why').attrs, { id: 'why', label: 'Why ?' });
});

test('a form, a step, an element and lists of them can be pasted, nothing else can, and no text throws', () => {
  for (const [sent, count] of [
    [source, 1],
    [source.children![0], 1],
    [source.children![0]!.children, 3],
    [element('text', 'x', { label: 'X' }), 1],
  ] as const) {
    const parts = parseClipboardNodes(JSON.stringify(sent));
    assert.equal(parts.ok && parts.parts.length, count);
  }
  const deep = `${'{"type":"composite","children":['.repeat(10_000)}${']}'.repeat(10_000)}`;
  for (const text of [
    '',
    'Hello',
    '{}',
    '[]',
    '3',
    '{"formloom":{}}',
    '[{"type":"form"}]',
    '[{"type":"step"},{"type":"text"}]',
    deep,
  ])
    assert.deepEqual(parseClipboardNodes(text).ok, false, text.slice(0, 40));
});

test('a paste reports problems that block publishing, and is refused if the form would exceed its limit', () => {
  const root = read(structure(element('text', 'a', { label: 'A' })));
  assert.match(pasted(root, '{"type":"text","attrs":{"id":"b"}}', '').problems.join(), /label/);
  const many = Array.from({ length: 1_000 }, (_, at) => element('text', `e${at}`, { label: 'E' }));
  const parts = parseClipboardNodes(JSON.stringify(many));
  assert.ok(parts.ok);
  assert.equal(insertPastedNodes(root, parts.parts, ''), 'A form can have at most 1,000 elements.');
});

const nested = stepsOf(
  {},
  [
    element('text', 'a', { label: 'A' }),
    composite('group', [element('text', 'b', { label: 'B' }), element('text', 'c', { label: 'C' })], {
      label: 'G',
    }),
    element('text', 'd', { label: 'D' }),
  ],
  {},
  [element('text', 'e', { label: 'E' })],
);

test('several elements move together in order, into and out of groups, but never into themselves', () => {
  const root = read(nested);
  const [one, group] = [root.children[0]!, byId(root, 'group')];
  const into = moveNodes(root, keyOf(root, 'd', 'a'), { parent: group.key, index: 1 });
  assert.deepEqual(idsIn(byId(into, 'group').children), ['b', 'a', 'd', 'c']);
  const out = moveNodes(root, keyOf(root, 'b', 'c', 'e'), { parent: one.key, index: 0 });
  assert.deepEqual(idsIn(out.children[0]!.children), ['b', 'c', 'e', 'a', 'group', 'd']);
  assert.equal(moveNodes(root, keyOf(root, 'group', 'a'), { parent: group.key, index: 0 }), root);
  assert.equal(moveNodes(root, keyOf(root, 'a', 'group'), { parent: one.key, index: 1 }), root);
});

test('a selection extends to an element, by one element, to siblings and to everything, and a selected group includes its elements', () => {
  const root = read(nested);
  const [a, group, d] = ['a', 'group', 'd'].map((id) => byId(root, id));
  const range = selectionRangeOf(root, a!.key, d!);
  assert.deepEqual(idsIn(topmostNodes(root, range)), ['a', 'group', 'd']);
  assert.equal(selectionRangeOf(root, d!.key, a!).at(-1), a!.key);
  assert.deepEqual(
    selectionRangeOf(root, root.children[0]!.key, a!),
    [a!.key],
    'a step and an element are not selected together',
  );
  const moment = { root, settings: {}, selection: a!.key, also: [group!.key] };
  assert.deepEqual(idsIn(selectedNodes(moment)), ['a', 'group']);
  assert.deepEqual(toggleInSelection(moment, d!), [group!.key, a!.key, d!.key]);
  assert.deepEqual(toggleInSelection(moment, a!), [group!.key]);
  const beside = widenSelection({ root, settings: {}, selection: a!.key });
  assert.deepEqual(idsIn(topmostNodes(root, beside)), ['a', 'group', 'd']);
  const all = widenSelection({ root, settings: {}, selection: beside[0]!, also: beside.slice(1) });
  assert.deepEqual(idsIn(topmostNodes(root, all)), ['a', 'group', 'd', 'e']);
});
