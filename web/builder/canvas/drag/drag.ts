import { addElement, moveTo } from '../../editor/commands.ts';
import type { Editor } from '../../editor/editor.ts';
import { sayNode } from '../../model/compare.ts';
import { type DropPlace, findDropPlace } from '../../model/drop-place.ts';
import { type EditNode, findNode, type NodeKey } from '../../model/edit-node.ts';
import { newPart } from '../../model/new-element.ts';
import type { PaletteEntry } from '../../model/ready-groups.ts';
import { titleOfEntry } from '../../palette/element-groups.ts';
import { measureStepZones, measureZones } from '../canvas-geometry.ts';

/** What is dragged: a node of the form, or a new element out of the palette. */
export type DragSource =
  | { readonly kind: 'move'; readonly key: NodeKey }
  | { readonly kind: 'add'; readonly type: PaletteEntry };

/** A drag under way: where the pointer is, what a drop would do, and what to call it. */
export type Drag = {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly place: DropPlace | undefined;
};

/** The canvas that things are dragged to, and who is told how it goes. */
type DragGround = {
  readonly editor: Editor;
  readonly host: HTMLElement;
  readonly scroller: HTMLElement;
  /** The list of steps beside the canvas, which takes steps too. */
  readonly stepsList: HTMLElement | null;
  readonly onChange: (drag: Drag | undefined) => void;
};

/** A press becomes a drag after so many pixels; less is a click. */
const threshold = 5;
/** The canvas scrolls while the pointer is so near to its upper or lower edge, in pixels. */
const scrollEdge = 56;
const scrollStep = 14;
const scrollEveryMs = 30;

/**
 * Follows a pointer from its press to its release, and carries out the drop. Escape ends it without a change, and so
 * does what the system does to the pointer. Returns what ends it from outside.
 */
export function startDrag(ground: DragGround, source: DragSource, down: PointerEvent): () => void {
  const { editor, onChange } = ground;
  const dragged = describeSource(editor, source);
  if (!dragged) return () => {};
  const listening = new AbortController();
  let drag: Drag | undefined;

  const measure = (x: number, y: number): void => {
    const zones = zonesAt(ground, dragged, x, y);
    drag = { x, y, title: dragged.title, place: findDropPlace(zones, x, y) };
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
    if (drag?.place) dropAt(editor, source, drag.place);
  });
  listen('pointercancel', end);
  listen('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    end();
    editor.say('Not moved');
  });
  return end;
}

type Dragged = { readonly root: EditNode; readonly node: EditNode; readonly title: string };

function describeSource(editor: Editor, source: DragSource): Dragged | undefined {
  const { root } = editor.read().history.present;
  if (source.kind === 'add')
    return { root, node: newPart(source.type, new Set()), title: titleOfEntry(source.type) };
  const node = findNode(root, source.key);
  return node && node.type !== 'form' ? { root, node, title: sayNode(node) } : undefined;
}

/** What can take a drop at the pointer: on the canvas, and for a step also in the list of steps. */
function zonesAt({ host, scroller, stepsList }: DragGround, { root, node }: Dragged, x: number, y: number) {
  if (node.type !== 'step') return isOver(scroller, x, y) ? measureZones(host, root, node) : [];
  if (stepsList && isOver(stepsList, x, y)) return measureStepZones(stepsList, root);
  return isOver(scroller, x, y) ? measureStepZones(host.shadowRoot, root) : [];
}

function dropAt(editor: Editor, source: DragSource, { spot }: DropPlace): void {
  if (source.kind === 'move') moveTo(editor, source.key, spot);
  else addElement(editor, source.type, spot);
}

function isOver(scroller: HTMLElement, x: number, y: number): boolean {
  const box = scroller.getBoundingClientRect();
  return x >= box.left && x <= box.right && y >= box.top - scrollEdge && y <= box.bottom + scrollEdge;
}

/** Scrolls a little when the pointer is at an edge; whether it did. */
function scrollAtEdge(scroller: HTMLElement, y: number): boolean {
  const box = scroller.getBoundingClientRect();
  const step = y < box.top + scrollEdge ? -scrollStep : y > box.bottom - scrollEdge ? scrollStep : 0;
  scroller.scrollBy(0, step);
  return step !== 0;
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
