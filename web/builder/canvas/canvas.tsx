import './canvas.css';
import { type ReactElement, type RefObject, useEffect, useRef } from 'react';
import { mayMove } from '../../design/motion.ts';
import type { Editor } from '../editor/editor.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { useForm } from '../../shell/form-place.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { NodeKey } from '../model/edit-node.ts';
import type { Spot } from '../model/places.ts';
import { CanvasForm } from './canvas-form.tsx';
import { elementOf } from './canvas-geometry.ts';
import type { Drag } from './drag/drag.ts';
import { DragLayer } from './drag/drag-layer.tsx';
import { Overlay } from './overlay.tsx';
import { Shadow } from './shadow.tsx';
import type { StartDrag } from './drag/use-drag.ts';
import { useManner } from './use-manner.ts';
import { useScheme } from '../../shell/theme.ts';

type CanvasProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly problems: ReadonlyMap<NodeKey, readonly string[]>;
  readonly foot: HTMLElement | null;
  readonly drag: Drag | undefined;
  readonly onDrag: StartDrag;
  /** Opens the list of elements to add at a place. */
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

/** The form as it will look, to be worked on: selected, written on, moved, filled. */
export function Canvas({
  host,
  scroller,
  problems,
  foot,
  drag,
  onDrag,
  onInsert,
}: CanvasProps): ReactElement {
  const place = useBuilder();
  const { editor } = place;
  const { id: formId } = useForm();
  const state = useEditorState(editor);
  const { root, settings } = state.history.present;
  const manner = useManner(formId, root, settings, useScheme());
  useFocusWishes(editor, host, state.focus);
  return (
    <div className="canvas" ref={scroller} onPointerDown={(event) => startPointing(event, onDrag)}>
      <div className="canvas-sheet">
        <Shadow hostRef={host} manner={manner}>
          <CanvasForm
            manner={manner}
            state={state}
            editor={editor}
            problems={problems}
            names={place}
            onFill={(parent, button) => onInsert(button, { parent, index: 0 })}
          />
        </Shadow>
        <Overlay
          host={host}
          foot={foot}
          onDrag={onDrag}
          onInsert={onInsert}
          isDragging={drag !== undefined}
        />
      </div>
      <DragLayer drag={drag} />
    </div>
  );
}

/**
 * A mouse drags an element by its body and a step by its heading, and selects from anywhere else; a finger scrolls there,
 * and drags by the handle.
 */
function startPointing(event: React.PointerEvent, onDrag: StartDrag): void {
  if (event.pointerType === 'touch') return;
  // React tells of a press in the shadow root once more, as one on its host.
  if (event.target !== event.nativeEvent.composedPath()[0]) return;
  // A press in a menu of the canvas stands in a portal: it reaches this handler by the React tree alone.
  if (!event.nativeEvent.composedPath().includes(event.currentTarget)) return;
  const path = event.nativeEvent.composedPath().filter((target) => target instanceof HTMLElement);
  if (path.some((target) => target.matches('.written, button, .node-bar'))) return;
  // The bar that scrolls the canvas.
  const { target, currentTarget } = event;
  if (target === currentTarget && event.nativeEvent.offsetX > currentTarget.clientWidth) return;
  const node = path.find(({ dataset }) => dataset['key'] !== undefined);
  const isHeld = node?.matches('section')
    ? path[0] !== node && path.some((part) => part.matches('h1, h2'))
    : node;
  const key = isHeld && !node?.matches('header') ? node?.dataset['key'] : undefined;
  onDrag(key === undefined ? undefined : { kind: 'move', key }, event);
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
    if (focus.part === 'label' || editor.read().editing?.key === focus.key) return;
    const element = elementOf(host.current, focus.key);
    element?.focus({ preventScroll: true });
    // From step to step one sees where one goes.
    const isFar = element?.localName === 'section' && mayMove();
    element?.scrollIntoView({ block: 'nearest', behavior: isFar ? 'smooth' : 'instant' });
  }, [editor, host, focus]);
}
