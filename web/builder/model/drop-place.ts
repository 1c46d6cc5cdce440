import { limits } from '#ast/basics/limits.ts';
import { type EditNode, findNode, type NodeKey, textOf, trailTo, walkNodes } from './edit-node.ts';
import type { Moment } from './history.ts';

/** A place between two children of a node: before the child that has the index now. */
export type Spot = { readonly parent: NodeKey; readonly index: number };

export const isElement = ({ type }: EditNode): boolean => type !== 'form' && type !== 'step';
export const isRepeatable = ({ type, attrs }: EditNode): boolean =>
  type === 'composite' && attrs['repeatable'] === true;

/** Whether a node may lie directly in another: the rules of the tree, with its caps (docs/rules.md 13, 17). */
export function mayHold(root: EditNode, parentKey: NodeKey, node: EditNode): boolean {
  const trail = trailTo(root, parentKey);
  const parent = trail.at(-1);
  if (!parent) return false;
  if (parent.type === 'form')
    return node.type === 'step' && (root.children.includes(node) || root.children.length < limits.steps);
  if (parent.type !== 'step' && parent.type !== 'composite') return false;
  if (!isElement(node)) return false;
  const depth = trail.filter(({ type }) => type === 'composite').length;
  if (depth + nestingOf(node) > limits.nesting) return false;
  return !(trail.some(isRepeatable) && [...walkNodes(node)].some(isRepeatable));
}

/** How many composites lie inside each other in this node, itself included. */
function nestingOf(node: EditNode): number {
  const inside = Math.max(0, ...node.children.map(nestingOf));
  return node.type === 'composite' ? inside + 1 : inside;
}

/**
 * Everywhere that a node may go, in reading order, its own place among them: through all steps, into composites and
 * out of them. Spots are counted in the tree without the node; `spotInTree` puts it back.
 */
export function listSpots(root: EditNode, node: EditNode): Spot[] {
  const spots: Spot[] = [];
  const visit = (parent: EditNode): void => {
    if (parent.key === node.key) return;
    const holds = mayHold(root, parent.key, node);
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

/** Where a node is, counted as `listSpots` does. */
export function spotOf(root: EditNode, key: NodeKey): Spot | undefined {
  const parent = trailTo(root, key).at(-2);
  return parent && { parent: parent.key, index: parent.children.findIndex((child) => child.key === key) };
}

/** The next place before (-1) or after (1) the node's own; undefined at the ends of the form. */
export function nextSpot(root: EditNode, key: NodeKey, direction: -1 | 1): Spot | undefined {
  const node = findNode(root, key);
  const own = spotOf(root, key);
  if (!node || !own) return undefined;
  const spots = listSpots(root, node);
  const at = spots.findIndex(({ parent, index }) => parent === own.parent && index === own.index);
  return spots[at + direction];
}

/** A spot of `listSpots` as `moveNodes` counts it, with the node still in the tree. */
export function spotInTree(root: EditNode, key: NodeKey, spot: Spot): Spot {
  const own = spotOf(root, key);
  const isBehind = own?.parent === spot.parent && spot.index > own.index;
  return isBehind ? { ...spot, index: spot.index + 1 } : spot;
}

/** Where a new element goes: into the selected step or composite at its end, else behind the selected element. */
export function spotForNew(root: EditNode, selection: NodeKey): Spot {
  const trail = trailTo(root, selection);
  const node = trail.at(-1);
  const parent = trail.at(-2);
  if (node?.type === 'step' || (node?.type === 'composite' && node.children.length === 0)) {
    return { parent: node.key, index: node.children.length };
  }
  if (node && parent && isElement(node))
    return { parent: parent.key, index: parent.children.indexOf(node) + 1 };
  const last = root.children.at(-1) ?? root;
  return { parent: last.key, index: last.children.length };
}

/** The place of a node in words: `position 3 of 7, step 2`, in a composite with its label before the step. */
export function sayPlace(root: EditNode, key: NodeKey): string {
  const trail = trailTo(root, key);
  const parent = trail.at(-2);
  const step = trail[1];
  if (!parent || !step) return '';
  const index = parent.children.findIndex((child) => child.key === key);
  return placeWords({ parent, index, stepNumber: root.children.indexOf(step) + 1 });
}

/** The same, for who knows where the node is; of a step there is no step to name. */
export function placeWords({
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

/** A rectangle on the canvas, in pixels of the viewport. */
export type Box = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** What can take a drop: a step or a composite with the boxes of what it holds, in order. */
export type Zone = {
  readonly key: NodeKey;
  readonly box: Box;
  /** Where what it holds goes on: below each other, or side by side in the direction of the text. */
  readonly flow: 'down' | 'right' | 'left';
  readonly items: readonly Box[];
  /** Of what is shown without what it holds: how much that is. A drop goes behind all of it. */
  readonly end?: number;
};

/** Where a drop would go, and the line that shows it: a box without width or without height. */
export type DropPlace = { readonly spot: Spot; readonly line: Box };

/** How near to its edge a composite still counts as what is around it, in pixels: the way to drop beside it. */
const edge = 5;

/**
 * The place that a point on the canvas means: in the innermost zone around it, before the first item whose middle
 * lies behind the point. A point beside all zones means the nearest. Undefined without zones.
 */
export function findDropPlace(zones: readonly Zone[], x: number, y: number): DropPlace | undefined {
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

const area = ({ box }: Zone): number => (box.right - box.left) * (box.bottom - box.top);

function innermost(zones: readonly Zone[]): Zone | undefined {
  return zones.reduce<Zone | undefined>(
    (best, zone) => (best && area(best) <= area(zone) ? best : zone),
    undefined,
  );
}

function nearest(zones: readonly Zone[], y: number): Zone | undefined {
  const distance = ({ box }: Zone): number => Math.max(box.top - y, y - box.bottom, 0);
  return zones.reduce<Zone | undefined>(
    (best, zone) => (best && distance(best) <= distance(zone) ? best : zone),
    undefined,
  );
}

function indexAt({ items, flow }: Zone, x: number, y: number): number {
  const isBehind = ({ left, top, right, bottom }: Box): boolean => {
    if (flow === 'down') return y < (top + bottom) / 2;
    const middle = (left + right) / 2;
    return y < top || (y <= bottom && (flow === 'right' ? x < middle : x > middle));
  };
  const index = items.findIndex(isBehind);
  return index === -1 ? items.length : index;
}

/** From an item to a line that has nothing on its other side, in pixels: so much is free around a step and a group. */
const beside = 8;

/** Halfway between two items, or at the edge of the only one beside the place. */
function lineAt({ items, flow, box }: Zone, index: number): Box {
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

/** As it is where text runs the other way. */
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

/** A place where an element can be added, and what is drawn there: its middle, and how wide and high it may be. */
export type Gap = { readonly spot: Spot; readonly x: number; readonly y: number; readonly size: number };

/** Where the sign of a gap stands from the start of its line: those of groups further on, so that no two lie on another. */
const gapInset = 16;
const insetOfDepth = 28;
/** The sign lies over nothing that it stands between: where there is less room it is smaller, in pixels. */
const [smallest, largest] = [2 * beside, 24];

/** Every place between, before and behind the items of the zones; an empty zone has an invitation of its own. */
export function listGaps(zones: readonly Zone[]): Gap[] {
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

/** How far the two items of a place are from each other; at an end there is the least. */
function roomAt({ items, flow }: Zone, index: number): number {
  const before = items[index - 1];
  const after = items[index];
  if (!before || !after) return smallest;
  if (flow === 'down') return after.top - before.bottom;
  if (!areOnOneLine(before, after)) return smallest;
  return flow === 'right' ? after.left - before.right : before.left - after.right;
}

const depthOf = (zone: Zone, zones: readonly Zone[]): number =>
  zones.filter((other) => area(other) > area(zone) && contains(other.box, zone.box.left, zone.box.top, 0))
    .length;

/** The nodes with the keys in reading order, without what lies in one of them already. */
export function topmost(root: EditNode, keys: readonly NodeKey[]): readonly EditNode[] {
  const wanted = new Set(keys);
  const visit = (node: EditNode): readonly EditNode[] =>
    wanted.has(node.key) ? [node] : node.children.flatMap(visit);
  return visit(root);
}

/** What is selected, as `topmost` gives it. */
export const selectedIn = ({ root, selection, also = [] }: Moment): readonly EditNode[] =>
  topmost(root, [selection, ...also]);

/** Every step for a step, every other part for another one: what can be selected together with it, in reading order. */
function peersOf(root: EditNode, { type }: EditNode): readonly EditNode[] {
  return type === 'step' ? root.children : [...walkNodes(root)].filter(isElement);
}

/** Everything from one node to another, which comes last; the other alone where the two cannot be selected together. */
export function rangeOf(root: EditNode, from: NodeKey, to: EditNode): readonly NodeKey[] {
  const peers = peersOf(root, to).map(({ key }) => key);
  const [one, other] = [peers.indexOf(from), peers.indexOf(to.key)];
  if (one === -1) return [to.key];
  const range = peers.slice(Math.min(one, other), Math.max(one, other) + 1);
  return one <= other ? range : range.toReversed();
}

/** The selection with a node or without it; of what it cannot be selected with, nothing stays. The last key leads. */
export function toggled({ root, selection, also = [] }: Moment, node: EditNode): readonly NodeKey[] {
  const peers = new Set(peersOf(root, node).map(({ key }) => key));
  const old = [...also, selection].filter((key) => peers.has(key));
  if (!old.includes(node.key)) return [...old, node.key];
  return old.length === 1 ? old : old.filter((key) => key !== node.key);
}

/** Everything beside what is selected, and once that is selected all that the form asks. */
export function widened(moment: Moment): readonly NodeKey[] {
  const { root } = moment;
  const selected = selectedIn(moment);
  const own = [...walkNodes(root)].find(({ children }) => children.some((child) => selected.includes(child)));
  const beside = own?.children ?? [];
  const isAll = beside.every((node) => selected.includes(node));
  const wider = isAll ? root.children.flatMap(({ children }) => children) : beside;
  return wider.map(({ key }) => key);
}
