import { useEffect } from 'react';

/** Where keys belong to something else: fields, menus, lists, and questions that wait for an answer. */
const others =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable], [role="menu"], [role="listbox"], [role="alertdialog"], [role="grid"]';

type Keys = { onNext: (() => void) | undefined; onPrevious: (() => void) | undefined; onClose: () => void };

/** J and ↓ lead to the next submission, K and ↑ to the previous one, Escape closes the panel. */
export function usePanelKeys({ onNext, onPrevious, onClose }: Keys, isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const actions: Readonly<Record<string, (() => void) | undefined>> = {
      j: onNext,
      ArrowDown: onNext,
      k: onPrevious,
      ArrowUp: onPrevious,
      Escape: onClose,
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (event.target instanceof Element && event.target.closest(others)) return;
      if (document.querySelector('.dialog-veil, [role="menu"]')) return;
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}
