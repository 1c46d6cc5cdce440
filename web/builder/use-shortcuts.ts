import { useEffect } from 'react';

/**
 * Undo, redo and save wherever the focus is (docs/rules.md B1). In a text box Ctrl+Z stays the text box's own; saving
 * works there too. Leaves other screens' dialogs alone.
 */
export function useShortcuts(travel: (step: 'undo' | 'redo') => void, save: () => void): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === 's') {
        event.preventDefault();
        save();
        return;
      }
      if (isWriting(event) || document.querySelector('.dialog-veil')) return;
      const isRedo = key === 'y' || (key === 'z' && event.shiftKey);
      if (!isRedo && key !== 'z') return;
      event.preventDefault();
      travel(isRedo ? 'redo' : 'undo');
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, [travel, save]);
}

/** A switch or a colour has no undo of its own: there the form's is meant. */
const textBoxes =
  'input:not([type="checkbox"], [type="radio"], [type="color"], [type="file"]), textarea, select';

function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(textBoxes));
}
