import { useEffect } from 'react';
import { findPressed } from '../../shell/press.ts';
import { type Deed, everywhere, type InBuilder } from './deeds.ts';

const anywhere: readonly Deed<InBuilder>[] = Object.values(everywhere);

/** Undo, redo and save wherever the focus is (docs/rules.md B1). In a text box Ctrl+Z stays the text box's own. */
export function useShortcuts({ travel, save, list }: InBuilder): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const deed = findPressed(anywhere, event);
      if (!deed) return;
      // In a text box and while a dialog is open, the others are not the builder's.
      if (deed !== everywhere.save && (isWriting(event) || document.querySelector('.dialog-veil'))) return;
      event.preventDefault();
      deed.perform({ travel, save, list });
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
