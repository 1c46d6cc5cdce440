import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPressed, formatKeys } from './keyboard-shortcuts.ts';

const up = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const shortcuts = ['Mod+z', 'Mod+Shift+z', 'Alt+ArrowUp', 'ArrowUp', '+', '?', 'Delete'].map((press) => ({
  presses: [press],
  label: press,
  perform: undefined,
}));

const rows: readonly [pressed: Partial<typeof up> & { key: string }, found: string | undefined][] = [
  [{ key: 'z', ctrlKey: true }, 'Mod+z'],
  [{ key: 'z', metaKey: true }, 'Mod+z'],
  // With caps lock on.
  [{ key: 'Z', ctrlKey: true }, 'Mod+z'],
  [{ key: 'Z', ctrlKey: true, shiftKey: true }, 'Mod+Shift+z'],
  [{ key: 'z' }, undefined],
  [{ key: 'z', ctrlKey: true, altKey: true }, undefined],
  [{ key: 'ArrowUp', altKey: true }, 'Alt+ArrowUp'],
  [{ key: 'ArrowUp' }, 'ArrowUp'],
  [{ key: 'ArrowUp', ctrlKey: true }, undefined],
  [{ key: '+', shiftKey: true }, '+'],
  [{ key: '?' }, '?'],
  [{ key: '?', shiftKey: true }, '?'],
  [{ key: 'Delete', altKey: true }, undefined],
];
for (const [pressed, found] of rows)
  test(`${JSON.stringify(pressed)} is ${found ?? 'no shortcut'}`, () => {
    assert.equal(findPressed(shortcuts, { ...up, ...pressed })?.label, found);
  });

test('a shortcut is shown with the key labels of the platform, including Mac', () => {
  const labels = (isMac: boolean): string[] =>
    ['Mod+Shift+z', 'Alt+ArrowUp', ' ', '+'].map((press) => formatKeys(press, isMac));
  assert.deepEqual(labels(false), ['Ctrl+Shift+Z', 'Alt+↑', 'Space', '+']);
  assert.deepEqual(labels(true), ['⌘⇧Z', '⌥↑', 'Space', '+']);
});
