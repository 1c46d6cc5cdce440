import { duplicate, moveBy, selectEnd, selectNeighbour, selectParent } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import type { NodeKey } from '../model/edit-node.ts';
import { findPressed, type Shortcut } from '../../shell/press.ts';

/** What the keys of the canvas reach beyond the editor. */
type KeyActions = { readonly openMenu: () => void; readonly onDelete: (key: NodeKey) => void };
type CanvasShortcut = Shortcut<
  (on: KeyActions & { readonly editor: Editor; readonly node: NodeKey }) => void
>;

/** The keys of a selected part of the form (docs/rules.md B1-B3). */
export const onSelected: readonly CanvasShortcut[] = [
  { presses: ['/', '+'], label: 'Add an element', perform: ({ openMenu }) => openMenu() },
  {
    presses: ['Enter', 'F2'],
    label: 'Write its label',
    perform: ({ editor, node }) => editor.editLabel(node),
  },
  { presses: ['Mod+d'], label: 'Duplicate', perform: ({ editor, node }) => duplicate(editor, node) },
  { presses: ['Delete', 'Backspace'], label: 'Delete', perform: ({ onDelete, node }) => onDelete(node) },
  {
    presses: ['ArrowUp'],
    label: 'Go to the part before',
    perform: ({ editor }) => selectNeighbour(editor, -1),
  },
  {
    presses: ['ArrowDown'],
    label: 'Go to the next part',
    perform: ({ editor }) => selectNeighbour(editor, 1),
  },
  { presses: ['Home'], label: 'Go to the first part', perform: ({ editor }) => selectEnd(editor, 'first') },
  { presses: ['End'], label: 'Go to the last part', perform: ({ editor }) => selectEnd(editor, 'last') },
  {
    presses: ['Escape'],
    label: 'Go to what is around it',
    perform: ({ editor, node }) => selectParent(editor, node),
  },
  { presses: ['Alt+ArrowUp'], label: 'Move up', perform: ({ editor, node }) => moveBy(editor, node, -1) },
  { presses: ['Alt+ArrowDown'], label: 'Move down', perform: ({ editor, node }) => moveBy(editor, node, 1) },
  { presses: [' '], label: 'Lift it, to be moved', perform: ({ editor, node }) => editor.lift(node) },
];

export const whileLifted: readonly CanvasShortcut[] = [
  { presses: ['ArrowUp'], label: 'Up by one place', perform: ({ editor }) => editor.moveLifted(-1) },
  { presses: ['ArrowDown'], label: 'Down by one place', perform: ({ editor }) => editor.moveLifted(1) },
  { presses: [' ', 'Enter'], label: 'Put it down here', perform: ({ editor }) => editor.drop() },
  { presses: ['Escape'], label: 'Put it back where it was', perform: ({ editor }) => editor.putBack() },
];

/** Does what a key means for what is selected. What is written into a text box never comes here, nor do the keys of a button. */
export function handleKey(event: React.KeyboardEvent, editor: Editor, actions: KeyActions): void {
  const [target] = event.nativeEvent.composedPath();
  if (!(target instanceof HTMLElement) || target.dataset['key'] === undefined) return;
  const { lifted, history } = editor.read();
  const shortcut = findPressed(lifted ? whileLifted : onSelected, event);
  if (!shortcut) return;
  event.preventDefault();
  event.stopPropagation();
  shortcut.perform({ ...actions, editor, node: history.present.selection });
}
