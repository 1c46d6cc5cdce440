import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { ElementType } from '#ast/elements.ts';
import { addElement, moveTo } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { sayNode, titleOf } from '../model/compare.ts';
import { type DropPlace, findDropPlace } from '../model/drop-place.ts';
import { findNode, type NodeKey } from '../model/edit-node.ts';
import { newElement } from '../model/new-element.ts';
import { measureZones } from './canvas-geometry.ts';

/** What is dragged: a node of the form, or a new element out of the palette. */
export type DragSource = { readonly kind: 'move'; readonly key: NodeKey } | { readonly kind: 'add'; readonly type: ElementType };

/** A drag under way: where the pointer is, what a drop would do, and what to call it. */
export type Drag = { readonly x: number; readonly y: number; readonly title: string; readonly place: DropPlace | undefined };

/** A press becomes a drag after so many pixels; less is a click. */
const threshold = 5;
/** The canvas scrolls while the pointer is so near to its upper or lower edge, in pixels. */
const scrollEdge = 56;
const scrollStep = 14;

/**
 * Drag and drop by pointer: mouse, pen, and by a handle touch. `start` is called by a pointerdown; a click is still
 * a click. Escape ends a drag without a change. The keyboard has a way of its own (editor.lift).
 */
export function useDrag(
  editor: Editor,
  host: RefObject<HTMLDivElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
): { drag: Drag | undefined; start(source: DragSource, event: React.PointerEvent): void } {
  const [drag, setDrag] = useState<Drag | undefined>();
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);

  const start = useCallback(
    (source: DragSource, down: React.PointerEvent) => {
      if (down.button !== 0) return;
      const { root } = editor.read().history.present;
      const node = source.kind === 'move' ? findNode(root, source.key) : newElement(source.type, new Set());
      if (!node || node.type === 'form' || node.type === 'step') return;
      const title = source.kind === 'move' ? sayNode(node) : titleOf(source.type);
      let current: Drag | undefined;
      let scrolling: ReturnType<typeof setInterval> | undefined;

      const measure = (x: number, y: number): void => {
        const zones = host.current && isOver(scroller.current, x, y) ? measureZones(host.current, root, node) : [];
        current = { x, y, title, place: findDropPlace(zones, x, y) };
        setDrag(current);
      };
      const move = (event: PointerEvent): void => {
        if (event.pointerId !== down.pointerId) return;
        const distance = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
        if (!current && distance < threshold) return;
        event.preventDefault();
        measure(event.clientX, event.clientY);
      };
      const scroll = (): void => {
        const box = scroller.current?.getBoundingClientRect();
        if (!current || !box) return;
        const step = current.y < box.top + scrollEdge ? -scrollStep : current.y > box.bottom - scrollEdge ? scrollStep : 0;
        if (step === 0) return;
        scroller.current?.scrollBy(0, step);
        measure(current.x, current.y);
      };
      const end = (): void => {
        clearInterval(scrolling);
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', drop);
        removeEventListener('pointercancel', end);
        removeEventListener('keydown', cancel, true);
        setDrag(undefined);
      };
      const drop = (event: PointerEvent): void => {
        if (event.pointerId !== down.pointerId) return;
        const spot = current?.place?.spot;
        if (current) swallowClick();
        end();
        if (!spot) return;
        if (source.kind === 'move') moveTo(editor, source.key, spot);
        else addElement(editor, source.type, spot);
      };
      const cancel = (event: KeyboardEvent): void => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        end();
        editor.say('Not moved');
      };
      stop.current = end;
      scrolling = setInterval(scroll, 30);
      addEventListener('pointermove', move, { passive: false });
      addEventListener('pointerup', drop);
      addEventListener('pointercancel', end);
      addEventListener('keydown', cancel, true);
    },
    [editor, host, scroller],
  );
  return { drag, start };
}

function isOver(element: HTMLElement | null, x: number, y: number): boolean {
  const box = element?.getBoundingClientRect();
  return box !== undefined && x >= box.left && x <= box.right && y >= box.top - scrollEdge && y <= box.bottom + scrollEdge;
}

/** The click that follows a drag is none. */
function swallowClick(): void {
  const swallow = (event: MouseEvent): void => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener('click', swallow, { capture: true, once: true });
  // A drag that ends elsewhere than it began has no click at all.
  setTimeout(() => removeEventListener('click', swallow, true), 0);
}
