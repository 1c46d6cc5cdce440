import { createContext, useContext, useEffect } from 'react';
import { type Offer, useOffers } from '../../shell/offers.ts';
import { findPressed, sayPress } from '../../shell/press.ts';
import { useBuilder } from '../editor/use-editor.ts';
import { sayNodes } from '../model/compare.ts';
import { selectedIn } from '../model/drop-place.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { PartsClipboard } from './clip-parts.ts';
import {
  type Deed,
  everywhere,
  type InBuilder,
  type OnParts,
  offeredFor,
  onParts,
  whileLifted,
} from './deeds.ts';

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

/** What deeds reach beyond the editor, in the view that shows the parts. */
export const ReachContext = createContext<Pick<OnParts, 'openMenu' | 'remove'> | undefined>(undefined);

/** Browsers give pages without https none, but in an event of its own. */
const pageClipboard: PartsClipboard | undefined = isSecureContext
  ? {
      write: (text) => navigator.clipboard.writeText(text),
      read: () => navigator.clipboard.readText(),
    }
  : undefined;

type Meant = { readonly parts?: readonly EditNode[]; readonly clipboard?: PartsClipboard };

/** Gives what a deed is done to: these parts, else what is selected at that moment. */
export function useOnParts(): (meant?: Meant) => OnParts {
  const { editor } = useBuilder();
  const reach = useContext(ReachContext);
  if (!reach) throw new Error('This is used outside of the view that shows the form.');
  return ({ parts, clipboard = pageClipboard } = {}) => {
    const { present } = editor.read().history;
    const selected = parts ?? selectedIn(present).filter((node) => node !== present.root);
    return { ...reach, editor, clipboard, parts: selected };
  };
}

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

/** Has the finder (Ctrl+K) offer what can be done to the parts that are selected, as their menu does. */
export function useOfferedParts(): void {
  const on = useOnParts();
  useOffers(() => {
    const meant = on();
    if (meant.parts.length === 0) return { title: '', offers: [] };
    const offers = offeredFor(meant).flatMap(
      ([name, { label, icon = 'edit', presses, perform, choices }]): Offer[] =>
        choices
          ? choices(meant).map((choice) => ({
              id: `${name} ${choice.id}`,
              label: `${label}: ${choice.label}`,
              icon,
              run: choice.perform,
            }))
          : [
              {
                id: name,
                label,
                icon,
                ...(presses[0] !== undefined && { description: sayPress(presses[0]) }),
                run: () => perform(meant),
              },
            ],
    );
    return { title: `With ${sayNodes(meant.parts)}`, offers };
  });
}
