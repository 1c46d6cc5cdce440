import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { canAnimate } from '../../design/use-swipe-away.ts';
import { addElement, moveTo } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import type { BuilderContextValue } from '../editor/use-editor.ts';
import { describeNodes } from '../model/compare.ts';
import { type EditNode, findNode, type NodeKey, walkNodes } from '../model/edit-node.ts';
import { titleOfPaletteEntry } from '../model/element-groups.ts';
import { newPaletteNode, type PaletteEntry } from '../model/new-element.ts';
import {
  type Box,
  type DropPosition,
  findDropPosition,
  isElement,
  selectedNodes,
} from '../model/node-positions.ts';
import {
  elementsByKey,
  findNodeElement,
  measureStepsAsZones,
  measureStepZones,
  measureZones,
} from './page-markup.ts';

/** The source of a drag: a node of the form, or a new element from the palette. */
type DragSource =
  | { readonly kind: 'move'; readonly key: NodeKey }
  | { readonly kind: 'add'; readonly type: PaletteEntry };

/** A drag in progress: the pointer position, the drop position, and the title to show. */
export type Drag = {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly place: DropPosition | undefined;
};

/** Where a drag happens, and the listener for its progress. */
type DragGround = {
  readonly editor: Editor;
  readonly host: HTMLElement;
  readonly scroller: HTMLElement;
  /** The list of steps beside the canvas, which also accepts drops. */
  readonly stepsList: HTMLElement | null;
  readonly onChange: (drag: Drag | undefined) => void;
};

/** A press becomes a drag after this many pixels. A shorter movement is a click. */
const threshold = 5;
/** The canvas scrolls while the pointer is within this many pixels of its upper or lower edge. */
const scrollEdge = 56;
const scrollStep = 14;
const scrollEveryMs = 30;

/**
 * Follows a pointer from press to release and performs the drop. Escape or a `pointercancel` ends the drag
 * without a change. Returns a function that cancels it.
 */
function startDrag(ground: DragGround, source: DragSource, down: PointerEvent): () => void {
  const { editor, onChange } = ground;
  const dragged = describeSource(editor, source);
  if (!dragged) return () => {};
  const listening = new AbortController();
  let drag: Drag | undefined;

  const measure = (x: number, y: number): void => {
    const zones = zonesAt(ground, dragged, x, y);
    drag = { x, y, title: dragged.title, place: findDropPosition(zones, x, y) };
    onChange(drag);
  };
  const scrolling = setInterval(() => {
    if (drag && scrollAtEdge(ground.scroller, drag.y)) measure(drag.x, drag.y);
  }, scrollEveryMs);
  const end = (): void => {
    clearInterval(scrolling);
    listening.abort();
    onChange(undefined);
  };
  const listen = <Type extends keyof WindowEventMap>(
    type: Type,
    hear: (event: WindowEventMap[Type]) => void,
  ): void => addEventListener(type, hear, { signal: listening.signal, capture: true, passive: false });

  listen('pointermove', (event) => {
    if (event.pointerId !== down.pointerId) return;
    const way = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    if (!drag && way < threshold) return;
    event.preventDefault();
    measure(event.clientX, event.clientY);
  });
  listen('pointerup', (event) => {
    if (event.pointerId !== down.pointerId) return;
    if (drag) swallowClick();
    end();
    if (!drag?.place) return;
    dropAt(editor, source, dragged, drag.place);
    if (canAnimate()) requestAnimationFrame(() => settle(ground.host, editor));
  });
  listen('pointercancel', end);
  listen('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    end();
    editor.announce('Not moved');
  });
  return end;
}

type Dragged = { readonly root: EditNode; readonly nodes: readonly EditNode[]; readonly title: string };

function describeSource(editor: Editor, source: DragSource): Dragged | undefined {
  const { present } = editor.read().history;
  const { root } = present;
  if (source.kind === 'add')
    return { root, nodes: [newPaletteNode(source.type, new Set())], title: titleOfPaletteEntry(source.type) };
  const selected = selectedNodes(present);
  const node = findNode(root, source.key);
  if (!node || node.type === 'form') return undefined;
  // Dragging one of several selected nodes drags all of them.
  const nodes = selected.includes(node) ? selected : [node];
  return { root, nodes, title: describeNodes(root, nodes) };
}

/**
 * Returns the drop zones at the pointer: on the canvas, or in the list of steps, where each step accepts
 * elements.
 */
function zonesAt({ host, scroller, stepsList }: DragGround, { root, nodes }: Dragged, x: number, y: number) {
  const areSteps = nodes[0]?.type === 'step';
  if (stepsList && areSteps && isOver(stepsList, x, y)) return measureStepZones(stepsList, root);
  if (stepsList && isOver(stepsList, x, y, 0)) return measureStepsAsZones(stepsList, root, nodes);
  if (!isOver(scroller, x, y)) return [];
  return areSteps ? measureStepZones(host.shadowRoot, root) : measureZones(host, root, nodes);
}

function dropAt(editor: Editor, source: DragSource, { nodes }: Dragged, { spot }: DropPosition): void {
  if (source.kind === 'move')
    moveTo(
      editor,
      nodes.map(({ key }) => key),
      spot,
    );
  else addElement(editor, source.type, spot);
}

/**
 * Fades in what was dropped. Its box keeps its size, because boxes are measured again during the animation.
 */
function settle(host: HTMLElement, editor: Editor): void {
  const glow = { boxShadow: '0 0 0 .5rem var(--accent)' };
  findNodeElement(host, editor.read().history.present.selection)?.animate([{ opacity: 0.2, ...glow }, {}], {
    duration: 250,
    easing: 'ease-out',
  });
}

function isOver(place: HTMLElement, x: number, y: number, margin = scrollEdge): boolean {
  const box = place.getBoundingClientRect();
  return x >= box.left && x <= box.right && y >= box.top - margin && y <= box.bottom + margin;
}

/** Scrolls a little if the pointer is at an edge. Returns whether it scrolled. */
function scrollAtEdge(scroller: HTMLElement, y: number): boolean {
  const box = scroller.getBoundingClientRect();
  const step = y < box.top + scrollEdge ? -scrollStep : y > box.bottom - scrollEdge ? scrollStep : 0;
  scroller.scrollBy(0, step);
  return step !== 0;
}

/** Ignores the click that follows a drag. */
function swallowClick(): void {
  const swallow = (event: MouseEvent): void => {
    event.stopPropagation();
    event.preventDefault();
  };
  addEventListener('click', swallow, { capture: true, once: true });
  // A drag that ends on another element triggers no click.
  setTimeout(() => removeEventListener('click', swallow, true), 0);
}

type Ground = { readonly editor: Editor; readonly host: HTMLElement; readonly scroller: HTMLElement };

/**
 * Draws a selection frame from a mouse press outside the elements, and selects what the frame touches. A
 * group is selected only if the frame contains all of it; otherwise, only the elements in it that the frame
 * touches are. Escape cancels.
 */
function startMarquee({ editor, host, scroller }: Ground, down: PointerEvent): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  const frame = document.createElement('div');
  frame.className = 'marquee';
  // The start of the frame scrolls with the canvas.
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
    const isInside =
      drawn.left >= box.left &&
      drawn.right <= box.right &&
      drawn.top >= box.top &&
      drawn.bottom <= box.bottom;
    return (type === 'composite' ? isInside : isTouched) ? [key] : [];
  });
}

/** Starts to drag the source. Without a source, starts a selection frame. */
export type StartDrag = (source: DragSource | undefined, event: React.PointerEvent) => void;

/**
 * Adds drag and drop with a mouse, a pen, or touch on a handle. Call `start` on pointerdown; a click stays a
 * click. The keyboard uses `editor.lift` instead.
 */
export function useDrag(
  { editor, isReadOnly }: BuilderContextValue,
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
