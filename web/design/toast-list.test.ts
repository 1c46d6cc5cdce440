import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  closeToast,
  holdToasts,
  listToasts,
  openToast,
  renewToast,
  shownMs,
  stayToast,
} from './toast-list.ts';

const undo = { label: 'Undo', run: async () => undefined };
const texts = () => listToasts().map(({ text }) => text);
const done = (text: string): void => openToast({ tone: 'good', text });
const undoable = (text: string): void => openToast({ tone: 'good', text, action: undo });

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => {
  for (const { id } of listToasts()) closeToast(id);
  mock.timers.reset();
});

test('what can be undone is not pushed out by what is only said, and stays longer', () => {
  undoable('Deleted.');
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) done(text);
  assert.deepEqual(texts(), ['Deleted.', 'Two.', 'Three.', 'Four.']);
  mock.timers.tick(shownMs.said);
  assert.deepEqual(texts(), ['Deleted.']);
  mock.timers.tick(shownMs.leading - shownMs.said);
  assert.deepEqual(texts(), []);
});

test('of what can be undone the last three can', () => {
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) undoable(text);
  assert.deepEqual(texts(), ['Two.', 'Three.', 'Four.']);
});

test('a problem is not pushed out by what is said, nor is what is under way by what comes, nor does it push out', () => {
  openToast({ tone: 'bad', text: 'Failed.' });
  for (const text of ['One.', 'Two.', 'Three.']) undoable(text);
  stayToast(listToasts()[1]!.id);
  for (const text of ['Said.', 'Said too.', 'Said again.']) done(text);
  undoable('Four.');
  assert.deepEqual(texts(), [
    'Failed.',
    'One.',
    'Two.',
    'Three.',
    'Said.',
    'Said too.',
    'Said again.',
    'Four.',
  ]);
});

test('what did not arrive stands where it stood, with its whole time, also when it was closed meanwhile', () => {
  undoable('One.');
  undoable('Two.');
  const [one, two] = listToasts();
  for (const { id } of [one!, two!]) stayToast(id);
  closeToast(two!.id);
  mock.timers.tick(shownMs.leading);
  renewToast(one!);
  renewToast(two!);
  mock.timers.tick(shownMs.leading - 1);
  assert.deepEqual(texts(), ['One.', 'Two.']);
  mock.timers.tick(1);
  assert.deepEqual(texts(), []);
});

test('a problem stays until it is closed, and what is under way until it has ended', () => {
  openToast({ tone: 'bad', text: 'Failed.' });
  undoable('Deleted.');
  stayToast(listToasts()[1]!.id);
  holdToasts('pointer', true);
  holdToasts('pointer', false);
  mock.timers.tick(2 * shownMs.leading);
  assert.deepEqual(texts(), ['Failed.', 'Deleted.']);
});

test('no toast goes away while nobody sees the window, or somebody is at it; then it has its whole time', () => {
  holdToasts('hidden', true);
  undoable('Deleted.');
  holdToasts('pointer', true);
  holdToasts('hidden', false);
  mock.timers.tick(2 * shownMs.leading);
  holdToasts('pointer', false);
  mock.timers.tick(shownMs.leading - 1);
  assert.deepEqual(texts(), ['Deleted.']);
  mock.timers.tick(1);
  assert.deepEqual(texts(), []);
});
