import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { setAttribute } from './edit.ts';
import { type EditNode, parseEditableTree } from './edit-node.ts';
import { historyLength, recordChange, selectNode, startHistory, typingPause, undo } from './history.ts';

const sample = (): EditNode => {
  const read = parseEditableTree(structure(element('text', 'a'), element('text', 'd')));
  if (!read.ok) throw new Error('not a tree');
  return read.root;
};

test('typing into one field is one undo step, and a pause, another field or another selection starts the next', () => {
  const root = sample();
  const [{ key }, other] = root.children[0]!.children as [EditNode, EditNode];
  let history = startHistory(root, {});
  const type = (label: string, at: number, gesture = 'label') => {
    history = recordChange(
      history,
      { root: setAttribute(history.present.root, key, gesture, label), settings: {}, selection: key },
      gesture,
      at,
    );
  };
  type('N', 0);
  type('Na', 100);
  type('Nam', 200);
  assert.equal(history.past.length, 1);
  type('Name', 200 + typingPause);
  assert.equal(history.past.length, 2);
  type('Help', 800, 'help_text');
  history = selectNode(history, other.key);
  type('Helpful', 900, 'help_text');
  assert.equal(history.past.length, 4);
  assert.equal(undo(history).present.selection, other.key);
});

test('setting an attribute, rule or setting to its current value is no undo step', () => {
  const root = sample();
  const [{ key }] = root.children[0]!.children as [EditNode];
  const rule = () => ({ element: 'd', is: 'equals', value: 'x' });
  const ruled = setAttribute(root, key, 'show_when', rule());
  let history = startHistory(ruled, { time_zone: 'UTC' });
  for (const [attribute, value] of [
    ['show_when', rule()],
    ['require_when', undefined],
  ] as const)
    history = recordChange(
      history,
      {
        root: setAttribute(ruled, key, attribute, value),
        settings: { time_zone: 'UTC' },
        selection: key,
      },
      undefined,
      0,
    );
  assert.deepEqual([history.past.length, history.present.selection], [0, key]);
});

test('at least 100 steps can be undone, and history is limited', () => {
  let history = startHistory(sample(), {});
  for (let step = 0; step < historyLength + 50; step += 1) {
    history = recordChange(
      history,
      {
        root: setAttribute(history.present.root, history.present.root.key, 'name', `Name ${step}`),
        settings: {},
        selection: '',
      },
      undefined,
      step,
    );
  }
  assert.ok(historyLength >= 100);
  assert.equal(history.past.length, historyLength);
});
