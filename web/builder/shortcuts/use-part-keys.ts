import { useEffect } from 'react';
import { findPressed } from '../../shell/press.ts';
import { type Deed, onParts, type OnParts, whileLifted } from './deeds.ts';
import { useOnParts } from './on-parts.ts';

const onSelected: readonly Deed<OnParts>[] = Object.values(onParts);
const onLifted: readonly Deed<Pick<OnParts, 'editor'>>[] = Object.values(whileLifted);
/** What a button, or a window that is scrolled, does itself with a press. */
const ofButtons = new Set(['Enter', ' ', 'Escape', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

/**
 * Does what keys and the browser's clipboard mean for what is selected: while the focus is on the canvas, in the toolbar of
 * a part, or nowhere. What is written into a text box never comes here.
 */
export function usePartKeys(): void {
  const on = useOnParts();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const place = placeOfFocus();
      if (!place || (place === 'beside' && ofButtons.has(event.key))) return;
      const meant = on();
      const isLifted = meant.editor.read().lifted !== undefined;
      const deed = isLifted ? findPressed(onLifted, event) : findPressed(onSelected, event);
      // The event of the clipboard follows, and has the clipboard with it.
      if (!deed || deed.event) return;
      event.preventDefault();
      if (deed.appliesTo?.(meant) ?? true) deed.perform(meant);
    };
    const hearClipboard = (event: ClipboardEvent): void => {
      const { clipboardData } = event;
      if (!clipboardData || !placeOfFocus() || getSelection()?.isCollapsed === false) return;
      const meant = on({
        clipboard: {
          write: (text) => clipboardData.setData('text/plain', text),
          read: () => clipboardData.getData('text/plain'),
        },
      });
      const deed = onSelected.find((each) => each.event === event.type);
      if (!deed?.appliesTo?.(meant)) return;
      event.preventDefault();
      deed.perform(meant);
    };
    const listening = new AbortController();
    const { signal } = listening;
    addEventListener('keydown', press, { signal });
    for (const type of ['copy', 'cut', 'paste'] as const)
      document.addEventListener(type, hearClipboard, { signal });
    return () => listening.abort();
  });
}

/** Where the focus is, if keys mean parts of the form there. */
function placeOfFocus(): 'canvas' | 'beside' | undefined {
  if (document.querySelector('.dialog-veil, .finder-veil, .popover')) return undefined;
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (!(focused instanceof HTMLElement)) return undefined;
  if (focused.dataset['key'] !== undefined && focused.getRootNode() !== document) return 'canvas';
  return focused === document.body || focused.closest('.node-bar') ? 'beside' : undefined;
}
