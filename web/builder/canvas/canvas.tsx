import './canvas.css';
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react';
import { moveBy, selectEnd, selectNeighbour, selectParent, duplicate } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { NodeKey } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { InsertMenu, type InsertWish } from '../palette/insert-menu.tsx';
import { CanvasForm } from './canvas-form.tsx';
import { elementOf } from './canvas-geometry.ts';
import { DragLayer } from './drag-layer.tsx';
import { Overlay } from './overlay.tsx';
import { Shadow } from './shadow.tsx';
import type { Drag, DragSource } from './use-drag.ts';

type CanvasProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly problems: ReadonlyMap<NodeKey, readonly string[]>;
  readonly drag: Drag | undefined;
  readonly onDrag: (source: DragSource, event: React.PointerEvent) => void;
  /** Asks first when answers would be affected. */
  readonly onDelete: (key: NodeKey) => void;
};

/** The form as it will look, to be worked on: selected, written on, moved, filled. */
export function Canvas({ host, scroller, problems, drag, onDrag, onDelete }: CanvasProps): ReactElement {
  const { editor, lockedIds } = useBuilder();
  const state = useEditorState(editor);
  const [wish, setWish] = useState<InsertWish | undefined>();
  const { selection } = state.history.present;
  useFocusWishes(editor, host, state.focus);

  const openMenu = (anchor: Element | null, spot?: Spot): void => {
    setWish({ anchor: { current: anchor ?? elementOf(host.current, selection) }, spot });
  };
  return (
    <div className="canvas" ref={scroller}>
      <div
        className="canvas-sheet"
        onKeyDown={(event) => handleKey(event, editor, { openMenu: () => openMenu(null), onDelete })}
        onPointerDown={(event) => startBodyDrag(event, onDrag)}
      >
        <Shadow hostRef={host}>
          <CanvasForm
            state={state}
            editor={editor}
            problems={problems}
            lockedIds={lockedIds}
            onFill={(parent, button) => openMenu(button, { parent, index: 0 })}
          />
        </Shadow>
        <Overlay host={host} onDrag={onDrag} onDelete={onDelete} onInsert={openMenu} isDragging={drag !== undefined} />
      </div>
      <DragLayer drag={drag} />
      <InsertMenu wish={wish} onClose={() => setWish(undefined)} />
    </div>
  );
}

/** A mouse drags an element by its body; a finger scrolls there, and drags by the handle. */
function startBodyDrag(event: React.PointerEvent, onDrag: CanvasProps['onDrag']): void {
  if (event.pointerType === 'touch') return;
  const path = event.nativeEvent.composedPath();
  if (path.some((target) => target instanceof HTMLElement && target.matches('.written, button'))) return;
  const node = path.find((target): target is HTMLElement => target instanceof HTMLElement && target.dataset['key'] !== undefined);
  const key = node?.dataset['key'];
  if (key) onDrag({ kind: 'move', key }, event);
}

type KeyActions = { openMenu(): void; onDelete(key: NodeKey): void };

/** The keys of a selected part of the form. What is written into a text box never comes here. */
function handleKey(event: React.KeyboardEvent, editor: Editor, { openMenu, onDelete }: KeyActions): void {
  if (!isOnNode(event)) return;
  const { history, lifted } = editor.read();
  const key = history.present.selection;
  const act = keyAction(event, editor, key, lifted !== undefined, openMenu, onDelete);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

function isOnNode(event: React.KeyboardEvent): boolean {
  const [target] = event.nativeEvent.composedPath();
  return target instanceof HTMLElement && target.dataset['key'] !== undefined;
}

function keyAction(
  event: React.KeyboardEvent,
  editor: Editor,
  key: NodeKey,
  isLifted: boolean,
  openMenu: () => void,
  onDelete: (key: NodeKey) => void,
): (() => void) | undefined {
  const { key: name, altKey, ctrlKey, metaKey } = event;
  if (ctrlKey || metaKey) return name.toLowerCase() === 'd' ? () => duplicate(editor, key) : undefined;
  if (isLifted) {
    const whileLifted: Record<string, () => void> = {
      ArrowUp: () => editor.moveLifted(-1),
      ArrowDown: () => editor.moveLifted(1),
      ' ': editor.drop,
      Enter: editor.drop,
      Escape: editor.putBack,
    };
    return whileLifted[name];
  }
  const actions: Record<string, () => void> = {
    ArrowUp: () => (altKey ? moveBy(editor, key, -1) : selectNeighbour(editor, -1)),
    ArrowDown: () => (altKey ? moveBy(editor, key, 1) : selectNeighbour(editor, 1)),
    Home: () => selectEnd(editor, 'first'),
    End: () => selectEnd(editor, 'last'),
    Enter: () => editor.editLabel(key),
    F2: () => editor.editLabel(key),
    ' ': () => editor.lift(key),
    Delete: () => onDelete(key),
    Backspace: () => onDelete(key),
    Escape: () => selectParent(editor, key),
    '/': openMenu,
    '+': openMenu,
  };
  return actions[name];
}

/** Carries out what the editor wishes to have focused, once it is drawn. */
function useFocusWishes(editor: Editor, host: RefObject<HTMLDivElement | null>, focus: ReturnType<Editor['read']>['focus']): void {
  const done = useRef(focus);
  useEffect(() => {
    if (!focus || done.current === focus || focus.part === 'panel') return;
    done.current = focus;
    // A label that is being written has taken the focus itself.
    if (focus.part === 'label' || editor.read().editing === focus.key) return;
    const element = elementOf(host.current, focus.key);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: 'nearest' });
  }, [editor, host, focus]);
}

