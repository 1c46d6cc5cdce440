import type { Editor } from '../../editor/editor.ts';
import type { Box } from '../../model/drop-place.ts';
import { type NodeKey, walkNodes } from '../../model/edit-node.ts';
import { isElement } from '../../model/places.ts';
import { elementsByKey } from '../canvas-geometry.ts';
import { scrollAtEdge, scrollEveryMs, swallowClick, threshold } from './drag.ts';

type Ground = { readonly editor: Editor; readonly host: HTMLElement; readonly scroller: HTMLElement };

/**
 * Follows a mouse that was pressed beside the elements, draws a frame from there to the pointer, and selects what it
 * touches; groups that it does not hold whole are left out of it, what they hold is not. Escape ends it.
 */
export function startMarquee({ editor, host, scroller }: Ground, down: PointerEvent): () => void {
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
