import { duplicate, moveBy, selectEnd, selectNeighbour, selectParent } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import type { NodeKey } from '../model/edit-node.ts';

/** What the keys of the canvas reach beyond the editor. */
type KeyActions = { readonly openMenu: () => void; readonly onDelete: (key: NodeKey) => void };

/**
 * The keys of a selected part of the form (docs/rules.md B1-B3). What is written into a text box never comes here, nor
 * do the keys of a button.
 */
export function handleKey(event: React.KeyboardEvent, editor: Editor, actions: KeyActions): void {
  const [target] = event.nativeEvent.composedPath();
  if (!(target instanceof HTMLElement) || target.dataset['key'] === undefined) return;
  const act = editor.read().lifted ? keyWhileLifted(event, editor) : keyOnNode(event, editor, actions);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

type Act = (() => void) | undefined;

function keyWhileLifted({ key }: React.KeyboardEvent, editor: Editor): Act {
  const acts: Readonly<Record<string, Act>> = {
    ArrowUp: () => editor.moveLifted(-1),
    ArrowDown: () => editor.moveLifted(1),
    ' ': editor.drop,
    Enter: editor.drop,
    Escape: editor.putBack,
  };
  return acts[key];
}

function keyOnNode(event: React.KeyboardEvent, editor: Editor, { openMenu, onDelete }: KeyActions): Act {
  const node = editor.read().history.present.selection;
  if (event.ctrlKey || event.metaKey) {
    return event.key.toLowerCase() === 'd' ? () => duplicate(editor, node) : undefined;
  }
  const goOrMove = (direction: -1 | 1): void =>
    event.altKey ? moveBy(editor, node, direction) : selectNeighbour(editor, direction);
  const acts: Readonly<Record<string, Act>> = {
    ArrowUp: () => goOrMove(-1),
    ArrowDown: () => goOrMove(1),
    Home: () => selectEnd(editor, 'first'),
    End: () => selectEnd(editor, 'last'),
    Enter: () => editor.editLabel(node),
    F2: () => editor.editLabel(node),
    ' ': () => editor.lift(node),
    Delete: () => onDelete(node),
    Backspace: () => onDelete(node),
    Escape: () => selectParent(editor, node),
    '/': openMenu,
    '+': openMenu,
  };
  return acts[event.key];
}
