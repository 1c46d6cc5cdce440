import type { NodeKey } from './edit-node.ts';
import type { Spot } from './places.ts';

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
