import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { BuilderPlace } from '../../editor/use-editor.ts';
import {
  type Drag,
  type DragSource,
  scrollAtEdge,
  scrollEveryMs,
  startDrag,
  swallowClick,
  threshold,
} from './drag.ts';
import type { Editor } from '../../editor/editor.ts';
import type { Box } from '../../model/drop-place.ts';
import { type NodeKey, walkNodes } from '../../model/edit-node.ts';
import { isElement } from '../../model/places.ts';
import { elementsByKey } from '../canvas-geometry.ts';

type Ground = { readonly editor: Editor; readonly host: HTMLElement; readonly scroller: HTMLElement };

/**
 * Follows a mouse that was pressed beside the elements, draws a frame from there to the pointer, and selects what it
 * touches; groups that it does not hold whole are left out of it, what they hold is not. Escape ends it.
 */
function startMarquee({ editor, host, scroller }: Ground, down: PointerEvent): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  const frame = document.createElement('div');
  frame.className = 'marquee';
  // The place of the press scrolls with the canvas.
  const start = { x: down.clientX + scroller.scrollLeft, y: down.clientY + scroller.scrollTop };
  let pointer = { x: down.clientX, y: down.clientY };
  let caught = '';

  const draw = (): void => {
    const from = { x: start.x - scroller.scrollLeft, y: start.y - scroller.scrollTop };
    const box = {
      left: Math.min(from.x, pointer.x),
      top: Math.min(from.y, pointer.y),
      right: Math.max(from.x, pointer.x),
      bottom: Math.max(from.y, pointer.y),
    };
    frame.style.translate = `${box.left}px ${box.top}px`;
    frame.style.inlineSize = `${box.right - box.left}px`;
    frame.style.blockSize = `${box.bottom - box.top}px`;
    const keys = keysIn(editor, host, box);
    if (keys.join() === caught || keys.length === 0) return;
    caught = keys.join();
    editor.selectAll(keys, false);
  };
  const scrolling = setInterval(() => {
    if (frame.isConnected && scrollAtEdge(scroller, pointer.y)) draw();
  }, scrollEveryMs);
  const end = (): void => {
    clearInterval(scrolling);
    listening.abort();
    frame.remove();
  };
  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    pointer = { x: event.clientX, y: event.clientY };
    const isFar = Math.hypot(pointer.x - down.clientX, pointer.y - down.clientY) >= threshold;
    if (!frame.isConnected && isFar) document.body.append(frame);
    if (frame.isConnected) draw();
  };
  const finish = (): void => {
    if (frame.isConnected) swallowClick();
    end();
    if (caught !== '') editor.selectAll(caught.split(','));
  };
  addEventListener('pointermove', move, { signal, capture: true });
  addEventListener('pointerup', finish, { signal, capture: true });
  addEventListener('pointercancel', end, { signal, capture: true });
  addEventListener('keydown', (event) => event.key === 'Escape' && end(), { signal, capture: true });
  return end;
}

function keysIn(editor: Editor, host: HTMLElement, box: Box): NodeKey[] {
  const elements = [...walkNodes(editor.read().history.present.root)].filter(isElement);
  const onCanvas = elementsByKey(host);
  return elements.flatMap(({ key, type }) => {
    const drawn = onCanvas.get(key)?.getBoundingClientRect();
    if (!drawn) return [];
    const isTouched =
      drawn.left < box.right && drawn.right > box.left && drawn.top < box.bottom && drawn.bottom > box.top;
    const isHeld =
      drawn.left >= box.left &&
      drawn.right <= box.right &&
      drawn.top >= box.top &&
      drawn.bottom <= box.bottom;
    return (type === 'composite' ? isHeld : isTouched) ? [key] : [];
  });
}

/** Begins to drag what is named, or without a name to select what lies between the press and the pointer. */
export type StartDrag = (source: DragSource | undefined, event: React.PointerEvent) => void;

/**
 * Drag and drop by pointer: mouse, pen, and by a handle touch. `start` is called by a pointerdown; a click is still a
 * click. The keyboard has a way of its own (editor.lift).
 */
export function useDrag(
  { editor, isReadOnly }: BuilderPlace,
  host: RefObject<HTMLDivElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
  stepsList: RefObject<HTMLOListElement | null>,
): { drag: Drag | undefined; start: StartDrag } {
  const [drag, setDrag] = useState<Drag | undefined>();
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);
  const start: StartDrag = useCallback(
    (source, event) => {
      if (event.button !== 0 || (isReadOnly && source) || !host.current || !scroller.current) return;
      const ground = {
        editor,
        host: host.current,
        scroller: scroller.current,
        stepsList: stepsList.current,
        onChange: setDrag,
      };
      stop.current = source
        ? startDrag(ground, source, event.nativeEvent)
        : startMarquee(ground, event.nativeEvent);
    },
    [editor, isReadOnly, host, scroller, stepsList],
  );
  return { drag, start };
}
