import './canvas.css';
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react';
import type { Editor } from '../editor/editor.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { useForm } from '../../shell/form-place.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { NodeKey } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { InsertMenu, type InsertWish } from '../palette/insert-menu.tsx';
import { CanvasForm } from './canvas-form.tsx';
import { elementOf } from './canvas-geometry.ts';
import { handleKey } from './canvas-keys.ts';
import type { Drag } from './drag/drag.ts';
import { DragLayer } from './drag/drag-layer.tsx';
import { Overlay } from './overlay.tsx';
import { Shadow } from './shadow.tsx';
import type { StartDrag } from './drag/use-drag.ts';

type CanvasProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly problems: ReadonlyMap<NodeKey, readonly string[]>;
  readonly drag: Drag | undefined;
  readonly onDrag: StartDrag;
  /** Asks first when answers would be affected. */
  readonly onDelete: (key: NodeKey) => void;
};

/** The form as it will look, to be worked on: selected, written on, moved, filled. */
export function Canvas({ host, scroller, problems, drag, onDrag, onDelete }: CanvasProps): ReactElement {
  const { editor, lockedIds, isReadOnly } = useBuilder();
  const { id: formId } = useForm();
  const state = useEditorState(editor);
  const [wish, setWish] = useState<InsertWish | undefined>();
  useFocusWishes(editor, host, state.focus);

  const openMenu = (anchor: Element | null, spot?: Spot): void => {
    if (!isReadOnly) setWish({ anchor: { current: anchor }, spot });
  };
  const openAtSelection = (): void => openMenu(elementOf(host.current, state.history.present.selection));
  return (
    <div className="canvas" ref={scroller}>
      <div
        className="canvas-sheet"
        onKeyDown={(event) => handleKey(event, editor, { openMenu: openAtSelection, onDelete })}
        onPointerDown={(event) => startBodyDrag(event, onDrag)}
      >
        <Shadow hostRef={host}>
          <CanvasForm
            state={state}
            editor={editor}
            problems={problems}
            lockedIds={lockedIds}
            formId={formId}
            onFill={(parent, button) => openMenu(button, { parent, index: 0 })}
          />
        </Shadow>
        <Overlay
          host={host}
          onDrag={onDrag}
          onDelete={onDelete}
          onInsert={openMenu}
          isDragging={drag !== undefined}
        />
      </div>
      <DragLayer drag={drag} />
      <InsertMenu wish={wish} onClose={() => setWish(undefined)} />
    </div>
  );
}

/** A mouse drags an element by its body; a finger scrolls there, and drags by the handle. */
function startBodyDrag(event: React.PointerEvent, onDrag: StartDrag): void {
  if (event.pointerType === 'touch') return;
  const path = event.nativeEvent.composedPath().filter((target) => target instanceof HTMLElement);
  if (path.some((target) => target.matches('.written, button'))) return;
  const key = path.find((target) => target.dataset['key'] !== undefined)?.dataset['key'];
  if (key) onDrag({ kind: 'move', key }, event);
}

/** Carries out what the editor wishes to have focused, once it is drawn. */
function useFocusWishes(
  editor: Editor,
  host: RefObject<HTMLDivElement | null>,
  focus: EditorState['focus'],
): void {
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
