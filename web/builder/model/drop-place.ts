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
  /** Whether what it holds stands side by side. */
  readonly isRow: boolean;
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
  const zone = smallest(around) ?? nearest(zones, y);
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

function smallest(zones: readonly Zone[]): Zone | undefined {
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

function indexAt({ items, isRow }: Zone, x: number, y: number): number {
  const isBehind = ({ left, top, right, bottom }: Box): boolean => {
    if (!isRow) return y < (top + bottom) / 2;
    return y < top || (y <= bottom && x < (left + right) / 2);
  };
  const index = items.findIndex(isBehind);
  return index === -1 ? items.length : index;
}

/** Halfway between two items, or at the edge of the only one beside the place. */
function lineAt({ items, isRow, box }: Zone, index: number): Box {
  const before = items[index - 1];
  const after = items[index];
  if (isRow) return verticalLine(before, after, box);
  const y =
    before && after
      ? (before.bottom + after.top) / 2
      : before
        ? before.bottom + 8
        : after
          ? after.top - 8
          : (box.top + box.bottom) / 2;
  const { left, right } = before ?? after ?? box;
  return { left, right, top: y, bottom: y };
}

function verticalLine(before: Box | undefined, after: Box | undefined, box: Box): Box {
  const beside = after ?? before ?? box;
  const isSameLine = before && after && before.bottom > after.top;
  const x = isSameLine
    ? (before.right + after.left) / 2
    : after
      ? after.left - 8
      : before
        ? before.right + 8
        : (box.left + box.right) / 2;
  return { left: x, right: x, top: beside.top, bottom: beside.bottom };
}

/** A place where an element can be added, and the middle of what is drawn there. */
export type Gap = { readonly spot: Spot; readonly x: number; readonly y: number };

/** Where the sign of a gap stands from the start of its line: deeper ones further in, so that no two lie on another. */
const gapInset = 16;

/** Every place between, before and behind the items of the zones; an empty zone has an invitation of its own. */
export function listGaps(zones: readonly Zone[]): Gap[] {
  return zones.flatMap((zone) => {
    if (zone.items.length === 0) return [];
    return Array.from({ length: zone.items.length + 1 }, (_, index) => {
      const { left, right, top, bottom } = lineAt(zone, index);
      const isVertical = left === right;
      const x = isVertical ? left : left + gapInset;
      return { spot: { parent: zone.key, index }, x, y: isVertical ? (top + bottom) / 2 : top };
    });
  });
}
