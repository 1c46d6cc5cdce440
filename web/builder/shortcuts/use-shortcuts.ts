import { createContext, useContext, useEffect } from 'react';
import { type FinderAction, useFinderActions } from '../../shell/finder-actions.ts';
import { findPressed, formatKeys } from '../../shell/keyboard-shortcuts.ts';
import { useBuilder } from '../editor/use-editor.ts';
import { describeNodes } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';
import { selectedNodes } from '../model/node-positions.ts';
import {
  type BuilderCommand,
  type GlobalCommandTarget,
  globalCommands,
  liftedNodeCommands,
  listMenuCommands,
  type NodeCommandTarget,
  nodeCommands,
} from './builder-commands.ts';
import type { NodeClipboard } from './node-clipboard.ts';

const anywhere: readonly BuilderCommand<GlobalCommandTarget>[] = Object.values(globalCommands);

/** Handles undo, redo and save, wherever focus is (docs/rules.md B1). In a text box, Ctrl+Z undoes typing. */
export function useShortcuts({ travel, save, list }: GlobalCommandTarget): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const deed = findPressed(anywhere, event);
      if (!deed) return;
      // In a text box or with a dialog or a menu open, only save belongs to the builder.
      if (deed !== globalCommands.save && (isTyping(event) || document.querySelector(overlays))) return;
      event.preventDefault();
      deed.perform({ travel, save, list });
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, [travel, save, list]);
}

/** A switch or a color input does not support undo itself, so the key undoes a change of the form. */
const textBoxes =
  'input:not([type="checkbox"], [type="radio"], [type="color"], [type="file"]), textarea, select';

/** Matches dialogs, the finder and menus, which handle keys and focus themselves while open. */
export const overlays = '.dialog-veil, .finder-veil, .popover';

/** A searchable list sends the keys of its text box to its options too, so the focus counts as well. */
const isTyping = (event: KeyboardEvent): boolean =>
  [event.composedPath()[0], focusedElement()].some(
    (target) => target instanceof HTMLElement && (target.isContentEditable || target.matches(textBoxes)),
  );

function focusedElement(): Element | null {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}

/** What commands need in addition to the editor. Provided by the view that shows the nodes. */
export const NodeCommandContext = createContext<Pick<NodeCommandTarget, 'openMenu' | 'remove'> | undefined>(
  undefined,
);

/** Without HTTPS, browsers provide a clipboard only during its events. */
const pageClipboard: NodeClipboard | undefined = isSecureContext
  ? { write: (text) => navigator.clipboard.writeText(text), read: () => navigator.clipboard.readText() }
  : undefined;

type TargetOverride = { readonly parts?: readonly EditNode[]; readonly clipboard?: NodeClipboard };

/** Returns the target of a command: the given nodes, or the current selection. */
export function useNodeCommandTarget(): (meant?: TargetOverride) => NodeCommandTarget {
  const { editor } = useBuilder();
  const reach = useContext(NodeCommandContext);
  if (!reach) throw new Error('This hook must be used inside the view that shows the form.');
  return ({ parts, clipboard = pageClipboard } = {}) => {
    const { present } = editor.read().history;
    const selected = parts ?? selectedNodes(present).filter((node) => node !== present.root);
    return { ...reach, editor, clipboard, parts: selected };
  };
}

const onSelected: readonly BuilderCommand<NodeCommandTarget>[] = Object.values(nodeCommands);
const onLifted: readonly BuilderCommand<Pick<NodeCommandTarget, 'editor'>>[] =
  Object.values(liftedNodeCommands);
/** Keys that a focused button or a scrolled area handles itself. */
const ofButtons = new Set(['Enter', ' ', 'Escape', 'ArrowUp', 'ArrowDown', 'Home', 'End']);

/**
 * Handles keys and clipboard events for the selection while focus is on the canvas, in a node's toolbar, or
 * nowhere. Keys in text boxes are not handled here.
 */
export function useNodeShortcuts(): void {
  const on = useNodeCommandTarget();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const place = focusLocation();
      if (
        !place &&
        findPressed([nodeCommands.add], event) &&
        !isTyping(event) &&
        !document.querySelector(overlays)
      ) {
        event.preventDefault();
        nodeCommands.add.perform(on());
      }
      if (!place || (place === 'beside' && ofButtons.has(event.key))) return;
      const meant = on();
      const isLifted = meant.editor.read().lifted !== undefined;
      const deed = isLifted ? findPressed(onLifted, event) : findPressed(onSelected, event);
      // A clipboard event follows, which provides access to the clipboard.
      if (!deed || deed.event) return;
      event.preventDefault();
      if (deed.appliesTo?.(meant) ?? true) deed.perform(meant);
    };
    const handleClipboard = (event: ClipboardEvent): void => {
      const { clipboardData } = event;
      if (!clipboardData || !focusLocation() || getSelection()?.isCollapsed === false) return;
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
      document.addEventListener(type, handleClipboard, { signal });
    return () => listening.abort();
  });
}

/** Returns where focus is, if keys there apply to nodes. */
function focusLocation(): 'canvas' | 'beside' | undefined {
  if (document.querySelector(overlays)) return undefined;
  const focused = focusedElement();
  if (!(focused instanceof HTMLElement)) return undefined;
  if (focused.dataset['key'] !== undefined && focused.getRootNode() !== document) return 'canvas';
  return focused === document.body || focused.closest('.node-bar') ? 'beside' : undefined;
}

/** Adds the menu commands of the selection to the finder (Ctrl+K). */
export function useNodeFinderActions(): void {
  const on = useNodeCommandTarget();
  useFinderActions(() => {
    const meant = on();
    if (meant.parts.length === 0) return { title: '', offers: [] };
    const offers = listMenuCommands(meant).flatMap(
      ([name, { label, icon = 'edit', presses, perform, choices }]): FinderAction[] =>
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
                ...(presses[0] !== undefined && { description: formatKeys(presses[0]) }),
                run: () => perform(meant),
              },
            ],
    );
    return { title: `With ${describeNodes(meant.editor.read().history.present.root, meant.parts)}`, offers };
  });
}
