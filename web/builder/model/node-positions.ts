import { formLimits } from '#ast/basics/limits.ts';
import { type EditNode, findNode, type NodeKey, pathToNode, textOf, walkNodes } from './edit-node.ts';
import type { EditSnapshot } from './history.ts';

/** A position between two children of a node: before the child that currently has this index. */
export type Spot = { readonly parent: NodeKey; readonly index: number };

export const isElement = ({ type }: EditNode): boolean => type !== 'form' && type !== 'step';
export const isRepeatableNode = ({ type, attrs }: EditNode): boolean =>
  type === 'composite' && attrs['repeatable'] === true;

/**
 * Whether a node can be a direct child of another node, by the rules and limits of the tree (docs/rules.md
 * 13, 17).
 */
export function canContain(root: EditNode, parentKey: NodeKey, node: EditNode): boolean {
  const trail = pathToNode(root, parentKey);
  const parent = trail.at(-1);
  if (!parent) return false;
  if (parent.type === 'form')
    return node.type === 'step' && (root.children.includes(node) || root.children.length < formLimits.steps);
  if (parent.type !== 'step' && parent.type !== 'composite') return false;
  if (!isElement(node)) return false;
  const depth = trail.filter(({ type }) => type === 'composite').length;
  if (depth + nestingOf(node) > formLimits.nesting) return false;
  return !(trail.some(isRepeatableNode) && [...walkNodes(node)].some(isRepeatableNode));
}

/** Returns the depth to which composites are nested in this node, including the node itself. */
function nestingOf(node: EditNode): number {
  const inside = Math.max(0, ...node.children.map(nestingOf));
  return node.type === 'composite' ? inside + 1 : inside;
}

/**
 * Lists every position where a node can go, in reading order, including its current one: through all steps,
 * into and out of composites. The indexes do not count the node itself; `toMoveSpot` converts them.
 */
export function listSpots(root: EditNode, node: EditNode): Spot[] {
  const spots: Spot[] = [];
  const visit = (parent: EditNode): void => {
    if (parent.key === node.key) return;
    const holds = canContain(root, parent.key, node);
    const children = parent.children.filter(({ key }) => key !== node.key);
    for (const [index, child] of children.entries()) {
      if (holds) spots.push({ parent: parent.key, index });
      visit(child);
    }
    if (holds) spots.push({ parent: parent.key, index: children.length });
  };
  visit(root);
  return spots;
}

/** Returns the position of a node, with an index as in `listSpots`. */
export function spotOf(root: EditNode, key: NodeKey): Spot | undefined {
  const parent = pathToNode(root, key).at(-2);
  return parent && { parent: parent.key, index: parent.children.findIndex((child) => child.key === key) };
}

/** Returns the previous (-1) or next (1) position for a node. Undefined at the ends of the form. */
export function nextSpot(root: EditNode, key: NodeKey, direction: -1 | 1): Spot | undefined {
  const node = findNode(root, key);
  const own = spotOf(root, key);
  if (!node || !own) return undefined;
  const spots = listSpots(root, node);
  const at = spots.findIndex(({ parent, index }) => parent === own.parent && index === own.index);
  return spots[at + direction];
}

/** Converts a spot of `listSpots` to a spot for `moveNodes`, whose index counts the node itself. */
export function toMoveSpot(root: EditNode, key: NodeKey, spot: Spot): Spot {
  const own = spotOf(root, key);
  const isBehind = own?.parent === spot.parent && spot.index > own.index;
  return isBehind ? { ...spot, index: spot.index + 1 } : spot;
}

/**
 * Returns the position for a new element: the end of the selected step or empty composite, or after the
 * selected element.
 */
export function spotForNewElement(root: EditNode, selection: NodeKey): Spot {
  const trail = pathToNode(root, selection);
  const node = trail.at(-1);
  const parent = trail.at(-2);
  if (node?.type === 'step' || (node?.type === 'composite' && node.children.length === 0))
    return { parent: node.key, index: node.children.length };
  if (node && parent && isElement(node))
    return { parent: parent.key, index: parent.children.indexOf(node) + 1 };
  const last = root.children.at(-1) ?? root;
  return { parent: last.key, index: last.children.length };
}

/**
 * Describes the position of a node: `position 3 of 7, step 2`. For a node in a composite, the composite's
 * label comes before the step.
 */
export function describePosition(root: EditNode, key: NodeKey): string {
  const trail = pathToNode(root, key);
  const parent = trail.at(-2);
  const step = trail[1];
  if (!parent || !step) return '';
  const index = parent.children.findIndex((child) => child.key === key);
  return formatPosition({ parent, index, stepNumber: root.children.indexOf(step) + 1 });
}

/** Describes a position that the caller has already determined. A step has no parent step to mention. */
export function formatPosition({
  parent,
  index,
  stepNumber,
}: {
  parent: EditNode;
  index: number;
  stepNumber: number;
}): string {
  const group = parent.type === 'composite' ? `, in ${textOf(parent, 'label') || 'a group'}` : '';
  const step = parent.type === 'form' ? '' : `, step ${stepNumber}`;
  return `position ${index + 1} of ${parent.children.length}${group}${step}`;
}

/** A rectangle on the canvas, in viewport pixels. */
export type Box = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** A drop target: a step or a composite with the boxes of its children, in order. */
export type DropZone = {
  readonly key: NodeKey;
  readonly box: Box;
  /** The direction of the children: below each other, or side by side in the text direction. */
  readonly flow: 'down' | 'right' | 'left';
  readonly items: readonly Box[];
  /** The number of children if they are not shown. A drop then goes after all of them. */
  readonly end?: number;
};

/** The position of a drop, and the line that shows it: a box without width or height. */
export type DropPosition = { readonly spot: Spot; readonly line: Box };

/** Within this many pixels of a composite's edge, a drop goes beside the composite. */
const edge = 5;

/**
 * Finds the drop position for a point: in the innermost zone, before the first item whose middle is after the
 * point. Outside all zones, the nearest zone counts. Returns undefined if there are no zones.
 */
export function findDropPosition(zones: readonly DropZone[], x: number, y: number): DropPosition | undefined {
  const around = zones.filter(({ box }, index) => contains(box, x, y, index === 0 ? 0 : edge));
  const zone = innermost(around) ?? nearest(zones, y);
  if (!zone) return undefined;
  const { key, box, end } = zone;
  if (end !== undefined) return { spot: { parent: key, index: end }, line: { ...box, top: box.bottom } };
  const index = indexAt(zone, x, y);
  return { spot: { parent: zone.key, index }, line: lineAt(zone, index) };
}

function contains({ left, top, right, bottom }: Box, x: number, y: number, margin: number): boolean {
  return x >= left + margin && x <= right - margin && y >= top + margin && y <= bottom - margin;
}

const area = ({ box }: DropZone): number => (box.right - box.left) * (box.bottom - box.top);

function innermost(zones: readonly DropZone[]): DropZone | undefined {
  return zones.reduce<DropZone | undefined>(
    (best, zone) => (best && area(best) <= area(zone) ? best : zone),
    undefined,
  );
}

function nearest(zones: readonly DropZone[], y: number): DropZone | undefined {
  const distance = ({ box }: DropZone): number => Math.max(box.top - y, y - box.bottom, 0);
  return zones.reduce<DropZone | undefined>(
    (best, zone) => (best && distance(best) <= distance(zone) ? best : zone),
    undefined,
  );
}

function indexAt({ items, flow }: DropZone, x: number, y: number): number {
  const isBehind = ({ left, top, right, bottom }: Box): boolean => {
    if (flow === 'down') return y < (top + bottom) / 2;
    const middle = (left + right) / 2;
    return y < top || (y <= bottom && (flow === 'right' ? x < middle : x > middle));
  };
  const index = items.findIndex(isBehind);
  return index === -1 ? items.length : index;
}

/**
 * The distance in pixels between the first or last item and a line before or after it. Steps and groups have
 * this much free space.
 */
const beside = 8;

/** Returns the line halfway between two items, or beside the only neighbor. */
function lineAt({ items, flow, box }: DropZone, index: number): Box {
  const before = items[index - 1];
  const after = items[index];
  if (flow === 'left')
    return mirrored(verticalLine(before && mirrored(before), after && mirrored(after), mirrored(box)));
  if (flow === 'right') return verticalLine(before, after, box);
  const y =
    before && after
      ? (before.bottom + after.top) / 2
      : before
        ? before.bottom + beside
        : after
          ? after.top - beside
          : (box.top + box.bottom) / 2;
  const { left, right } = before ?? after ?? box;
  return { left, right, top: y, bottom: y };
}

/** Mirrors a box for right-to-left text. */
const mirrored = ({ left, right, ...box }: Box): Box => ({ ...box, left: -right, right: -left });

const areOnOneLine = (before: Box | undefined, after: Box | undefined): boolean =>
  before !== undefined && after !== undefined && before.bottom > after.top;

function verticalLine(before: Box | undefined, after: Box | undefined, box: Box): Box {
  const { top, bottom } = after ?? before ?? box;
  const x = areOnOneLine(before, after)
    ? (before!.right + after!.left) / 2
    : after
      ? after.left - beside
      : before
        ? before.right + beside
        : (box.left + box.right) / 2;
  return { left: x, right: x, top, bottom };
}

/** A position where an element can be added, with the center and size of its "+" button. */
export type InsertGap = {
  readonly spot: Spot;
  readonly x: number;
  readonly y: number;
  readonly size: number;
};

/**
 * The distance of the button from the start of its line, in pixels. Nested groups use a larger inset, so that
 * buttons never overlap.
 */
const gapInset = 16;
const insetOfDepth = 28;
/** In pixels. The button shrinks in a narrow gap, so that it never covers the neighboring items. */
const [smallest, largest] = [2 * beside, 24];

/** Lists the positions between, before and after the items of the zones. An empty zone has its own button. */
export function listInsertGaps(zones: readonly DropZone[]): InsertGap[] {
  return zones.flatMap((zone) => {
    if (zone.items.length === 0) return [];
    const inset = gapInset + insetOfDepth * depthOf(zone, zones);
    return Array.from({ length: zone.items.length + 1 }, (_, index) => {
      const { left, right, top, bottom } = lineAt(zone, index);
      const isVertical = left === right;
      const size = Math.min(largest, Math.max(smallest, Math.floor(roomAt(zone, index))));
      const spot = { parent: zone.key, index };
      if (!isVertical) return { spot, x: left + inset, y: top, size };
      const isEnd = index === 0 || index === zone.items.length;
      return { spot, x: left, y: (top + bottom) / 2 + (isEnd ? inset - gapInset : 0), size };
    });
  });
}

/** Returns the distance between the two items around a position. At either end, returns the minimum. */
function roomAt({ items, flow }: DropZone, index: number): number {
  const before = items[index - 1];
  const after = items[index];
  if (!before || !after) return smallest;
  if (flow === 'down') return after.top - before.bottom;
  if (!areOnOneLine(before, after)) return smallest;
  return flow === 'right' ? after.left - before.right : before.left - after.right;
}

const depthOf = (zone: DropZone, zones: readonly DropZone[]): number =>
  zones.filter((other) => area(other) > area(zone) && contains(other.box, zone.box.left, zone.box.top, 0))
    .length;

/** Returns the nodes with these keys in reading order, without nodes that are inside another one. */
export function topmostNodes(root: EditNode, keys: readonly NodeKey[]): readonly EditNode[] {
  const wanted = new Set(keys);
  const visit = (node: EditNode): readonly EditNode[] =>
    wanted.has(node.key) ? [node] : node.children.flatMap(visit);
  return visit(root);
}

/** Returns the selected nodes, reduced by `topmost`. */
export const selectedNodes = ({ root, selection, also = [] }: EditSnapshot): readonly EditNode[] =>
  topmostNodes(root, [selection, ...also]);

/**
 * Lists the nodes that can be selected together with a node, in reading order: steps with steps, elements
 * with elements.
 */
function peersOf(root: EditNode, { type }: EditNode): readonly EditNode[] {
  return type === 'step' ? root.children : [...walkNodes(root)].filter(isElement);
}

/**
 * Returns the nodes from one node to another; the other one comes last. If the two cannot be selected
 * together, returns only the other.
 */
export function selectionRangeOf(root: EditNode, from: NodeKey, to: EditNode): readonly NodeKey[] {
  const peers = peersOf(root, to).map(({ key }) => key);
  const [one, other] = [peers.indexOf(from), peers.indexOf(to.key)];
  if (one === -1) return [to.key];
  const range = peers.slice(Math.min(one, other), Math.max(one, other) + 1);
  return one <= other ? range : range.toReversed();
}

/**
 * Adds a node to the selection, or removes it. Nodes that cannot be selected together with it are deselected.
 * The last key leads.
 */
export function toggleInSelection(
  { root, selection, also = [] }: EditSnapshot,
  node: EditNode,
): readonly NodeKey[] {
  const peers = new Set(peersOf(root, node).map(({ key }) => key));
  const old = [...also, selection].filter((key) => peers.has(key));
  if (!old.includes(node.key)) return [...old, node.key];
  return old.length === 1 ? old : old.filter((key) => key !== node.key);
}

/**
 * Extends the selection to all siblings. If these are already selected, extends it to all elements of the
 * form.
 */
export function widenSelection(moment: EditSnapshot): readonly NodeKey[] {
  const { root } = moment;
  const selected = selectedNodes(moment);
  const own = [...walkNodes(root)].find(({ children }) => children.some((child) => selected.includes(child)));
  const beside = own?.children ?? [];
  const isAll = beside.every((node) => selected.includes(node));
  const wider = isAll ? root.children.flatMap(({ children }) => children) : beside;
  return wider.map(({ key }) => key);
}
