import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  closeToast,
  keepToastOpen,
  listToasts,
  openToast,
  pauseToasts,
  reopenToast,
  toastDurationsMs,
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

test('an undoable toast is not displaced by plain messages and stays longer', () => {
  undoable('Deleted.');
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) done(text);
  assert.deepEqual(texts(), ['Deleted.', 'Two.', 'Three.', 'Four.']);
  mock.timers.tick(toastDurationsMs.said);
  assert.deepEqual(texts(), ['Deleted.']);
  mock.timers.tick(toastDurationsMs.leading - toastDurationsMs.said);
  assert.deepEqual(texts(), []);
});

test('only the last three undoable toasts stay', () => {
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) undoable(text);
  assert.deepEqual(texts(), ['Two.', 'Three.', 'Four.']);
});

test('problem and in-progress toasts are never displaced, and an undo in progress displaces no other', () => {
  openToast({ tone: 'bad', text: 'Failed.' });
  for (const text of ['One.', 'Two.', 'Three.']) undoable(text);
  keepToastOpen(listToasts()[1]!.id);
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

test('after a failed undo, a toast returns to its position with its full time, even if it was closed meanwhile', () => {
  undoable('One.');
  undoable('Two.');
  const [one, two] = listToasts();
  for (const { id } of [one!, two!]) keepToastOpen(id);
  closeToast(two!.id);
  mock.timers.tick(toastDurationsMs.leading);
  reopenToast(one!);
  reopenToast(two!);
  mock.timers.tick(toastDurationsMs.leading - 1);
  assert.deepEqual(texts(), ['One.', 'Two.']);
  mock.timers.tick(1);
  assert.deepEqual(texts(), []);
});

test('a problem toast stays until it is closed, and an undo in progress until it ends', () => {
  openToast({ tone: 'bad', text: 'Failed.' });
  undoable('Deleted.');
  keepToastOpen(listToasts()[1]!.id);
  pauseToasts('pointer', true);
  pauseToasts('pointer', false);
  mock.timers.tick(2 * toastDurationsMs.leading);
  assert.deepEqual(texts(), ['Failed.', 'Deleted.']);
});

test('toasts stay while the window is hidden or the pointer is on them, and then get their full time again', () => {
  pauseToasts('hidden', true);
  undoable('Deleted.');
  pauseToasts('pointer', true);
  pauseToasts('hidden', false);
  mock.timers.tick(2 * toastDurationsMs.leading);
  pauseToasts('pointer', false);
  mock.timers.tick(toastDurationsMs.leading - 1);
  assert.deepEqual(texts(), ['Deleted.']);
  mock.timers.tick(1);
  assert.deepEqual(texts(), []);
});
