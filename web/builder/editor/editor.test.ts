import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteNode, setAttribute, setLabel } from '../model/edit.ts';
import { makeNode } from '../model/edit-node.ts';
import { topmostNodes } from '../model/node-positions.ts';
import { addElement, duplicateAndSelect } from './commands.ts';
import { openEditor, performUndoableEdit } from './editor.ts';

const open = () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => makeNode('text', { id, label: id }));
  const step = makeNode('step', {}, [a!, b!, c!]);
  const editor = openEditor(makeNode('form', { name: 'F' }, [step]), {
    settings: { subject_element: 'a' },
    now: () => 0,
    isReadOnly: false,
    publishedIds: () => new Set(['a', 'a_2', 'text']),
  });
  const labels = () =>
    editor.read().history.present.root.children[0]!.children.map(({ attrs }) => attrs['label']);
  const rename = (label: string) =>
    editor.change((root) => ({ root: setLabel(root, a!.key, label, new Set()) }));
  return { editor, labels, rename, key: a!.key };
};

test('undo while an element is picked up puts it back and reverts no earlier step', () => {
  const { editor, labels, rename, key } = open();
  rename('A');
  editor.lift(key);
  editor.moveLifted(1);
  assert.deepEqual(labels(), ['b', 'A', 'c']);
  editor.redo();
  assert.deepEqual(labels(), ['b', 'A', 'c']);
  editor.undo();
  assert.deepEqual([labels(), editor.read().lifted], [['A', 'b', 'c'], undefined]);
  editor.undo();
  assert.deepEqual(labels(), ['a', 'b', 'c']);
  editor.redo();
  assert.deepEqual(labels(), ['A', 'b', 'c']);
});

test('picking up and dropping an element is one undo step', () => {
  const { editor, labels, key } = open();
  editor.lift(key);
  editor.moveLifted(1);
  editor.moveLifted(1);
  editor.drop();
  assert.deepEqual(labels(), ['b', 'c', 'a']);
  editor.undo();
  assert.deepEqual(labels(), ['a', 'b', 'c']);
});

test('a new element gets no id of the published form, because answers are stored under its ids', () => {
  const { editor, key } = open();
  addElement(editor, 'text');
  duplicateAndSelect(editor, topmostNodes(editor.read().history.present.root, [key]));
  assert.deepEqual(
    editor.read().history.present.root.children[0]!.children.map(({ attrs }) => attrs['id']),
    ['a', 'a_3', 'b', 'c', 'text_2'],
  );
});

test('leaving an unchanged field renders nothing again', () => {
  const { editor } = open();
  let notifications = 0;
  editor.subscribe(() => {
    notifications += 1;
  });
  editor.endGesture();
  assert.equal(notifications, 0);
});

test('undo reverts changes of settings and of the form, and a change without effect is no undo step', () => {
  const { editor, labels, rename } = open();
  const settings = () => editor.read().history.present.settings;
  rename('A');
  editor.changeSettings((now) => ({ ...now, theme: { color: '#111111' } }), 'theme color');
  editor.changeSettings((now) => ({ theme: { color: '#222222' }, ...now, language: 'german' }), 'other');
  editor.changeSettings((now) => ({ ...now, language: 'german' }));
  assert.equal(settings().language, 'german');
  editor.undo();
  assert.deepEqual(settings(), { subject_element: 'a', theme: { color: '#111111' } });
  editor.undo();
  assert.deepEqual([settings(), labels()[0]], [{ subject_element: 'a' }, 'A']);
  editor.undo();
  assert.equal(labels()[0], 'a');
  editor.redo();
  editor.redo();
  assert.deepEqual(settings().theme, { color: '#111111' });
});

test('a setting follows the new id of its element, and undo reverts both', () => {
  const { editor, key } = open();
  editor.change((root) => ({ root: setAttribute(root, key, 'id', 'renamed') }));
  assert.equal(editor.read().history.present.settings.subject_element, 'renamed');
  editor.undo();
  assert.equal(editor.read().history.present.settings.subject_element, 'a');
});

test('the confirmation message and title follow the new id of a question that they show, and undo reverts this', () => {
  const { editor, key } = open();
  const texts = {
    confirmation_message: 'Thanks, {{a}} and {{ b }}.',
    theme: { confirmation_title: 'Bye {{a}}' },
  };
  editor.changeSettings((now) => ({ ...now, ...texts }));
  editor.change((root) => ({ root: setAttribute(root, key, 'id', 'renamed') }));
  const { settings } = editor.read().history.present;
  assert.equal(settings.confirmation_message, 'Thanks, {{renamed}} and {{b}}.');
  assert.equal(settings.theme?.confirmation_title, 'Bye {{renamed}}');
  editor.undo();
  const { subject_element: _, ...back } = editor.read().history.present.settings;
  assert.deepEqual(back, texts);
});

test("another editor's saved change is applied immediately, and cancels a pending decision or a picked-up element", () => {
  const { editor, labels, key } = open();
  const { root } = editor.read().history.present;
  const ruled = makeNode('text', { id: 'd', label: 'd', show_when: { element: 'a', is: 'answered' } });
  const theirs = (children: typeof root.children) => () => ({
    root: { ...root, children: [{ ...root.children[0]!, children }] },
  });
  editor.replace(theirs([...root.children[0]!.children, ruled]));
  editor.change((form) => ({ root: deleteNode(form, key) }));
  assert.ok(editor.read().pendingEdit);
  editor.write({ key: ruled.key });
  editor.replace(theirs([ruled]));
  assert.deepEqual([labels(), editor.read().pendingEdit], [['d'], undefined]);
  assert.equal(editor.read().editing?.key, ruled.key, 'who writes in what stays goes on');
  editor.undo();
  editor.lift(key);
  editor.moveLifted(1);
  editor.replace(theirs([]));
  assert.deepEqual([labels(), editor.read().lifted], [[], undefined]);
});

test("another editor's change is no undo step of mine: undo reverts mine and keeps theirs", () => {
  const { editor, labels, rename } = open();
  const base = editor.read().history.present.settings;
  const theirs = { ...base, confirmation_message: 'Theirs' };
  rename('A');
  editor.merge((root) => ({ root, settings: theirs }), { base, theirs });
  assert.deepEqual([labels(), editor.read().history.present.settings], [['A', 'b', 'c'], theirs]);
  editor.undo();
  assert.deepEqual([labels(), editor.read().history.present.settings], [['a', 'b', 'c'], theirs]);

  editor.changeSettings((settings) => ({ ...settings, language: 'german' }));
  const { root, settings } = editor.read().history.present;
  const ofThem = makeNode('step', {}, [makeNode('text', { id: 'd', label: 'd' })]);
  editor.merge(() => ({ root: { ...root, children: [ofThem] }, settings }), { base: theirs, theirs });
  editor.undo();
  assert.deepEqual([labels(), editor.read().history.present.settings], [['d'], theirs]);
});

test('undoing one step reverts only that step, not later or earlier ones', () => {
  const { editor, labels, rename } = open();
  const undos: ((() => boolean) | undefined)[] = [];
  const make = (label: string): void =>
    performUndoableEdit(
      editor,
      () => rename(label),
      (undo) => undos.push(undo),
    );
  make('A');
  make('A');
  assert.equal(undos[1], undefined);
  rename('B');
  assert.equal(undos[0]!(), false);
  assert.deepEqual(labels(), ['B', 'b', 'c']);
  make('C');
  assert.equal(undos[2]!(), true);
  assert.deepEqual(labels(), ['B', 'b', 'c']);
  assert.equal(undos[2]!(), false);
});

test('an edit that asks for confirmation is applied after yes and leaves no trace after no', () => {
  const [a, b] = ['a', 'b'].map((id) => makeNode('text', { id, label: id }));
  const onA = { ...b!, attrs: { ...b!.attrs, show_when: { element: 'a', is: 'answered' } } };
  const editor = openEditor(makeNode('form', { name: 'F' }, [makeNode('step', {}, [a!, onA])]), {
    settings: {},
    now: () => 0,
    isReadOnly: false,
    publishedIds: () => new Set(),
  });
  let reports = 0;
  for (const isWanted of [false, true]) {
    performUndoableEdit(
      editor,
      () => editor.change((root) => ({ root: deleteNode(root, a!.key) })),
      () => (reports += 1),
    );
    assert.deepEqual([editor.read().pendingEdit !== undefined, reports], [true, 0]);
    editor.decide(isWanted);
  }
  assert.equal(reports, 1);
});
