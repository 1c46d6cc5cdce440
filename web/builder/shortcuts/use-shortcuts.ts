import { useEffect } from 'react';
import { findPressed, type Shortcut } from '../../shell/press.ts';

type Deeds = {
  readonly travel: (step: 'undo' | 'redo') => void;
  readonly save: () => void;
  readonly list: () => void;
};
type Everywhere = Shortcut<(deeds: Deeds) => void> & {
  /** In a text box too, and while a dialog is open, where the others are not the builder's. */
  readonly isAlways?: true;
};

export const undo: Everywhere = {
  presses: ['Mod+z'],
  label: 'Undo',
  perform: ({ travel }) => travel('undo'),
};
export const redo: Everywhere = {
  presses: ['Mod+Shift+z', 'Mod+y'],
  label: 'Redo',
  perform: ({ travel }) => travel('redo'),
};
/** Undo, redo and save wherever the focus is (docs/rules.md B1). In a text box Ctrl+Z stays the text box's own. */
export const everywhere: readonly Everywhere[] = [
  undo,
  redo,
  { presses: ['Mod+s'], label: 'Save now', perform: ({ save }) => save(), isAlways: true },
  { presses: ['?'], label: 'List the shortcuts', perform: ({ list }) => list() },
];

export function useShortcuts({ travel, save, list }: Deeds): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const shortcut = findPressed(everywhere, event);
      if (!shortcut) return;
      if (!shortcut.isAlways && (isWriting(event) || document.querySelector('.dialog-veil'))) return;
      event.preventDefault();
      shortcut.perform({ travel, save, list });
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, [travel, save, list]);
}

/** A switch or a colour has no undo of its own: there the form's is meant. */
const textBoxes =
  'input:not([type="checkbox"], [type="radio"], [type="color"], [type="file"]), textarea, select';

function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(textBoxes));
}
