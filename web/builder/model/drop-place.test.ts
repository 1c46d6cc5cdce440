import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DropZone, findDropPosition, listInsertGaps } from './node-positions.ts';

const box = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom });

/** A step with a field, a group of two fields side by side, and a field. Below it an empty step. */
const zones: readonly DropZone[] = [
  {
    key: 'step',
    box: box(0, 0, 400, 400),
    flow: 'down',
    items: [box(0, 0, 400, 100), box(0, 110, 400, 290), box(0, 300, 400, 400)],
  },
  {
    key: 'group',
    box: box(0, 110, 400, 290),
    flow: 'right',
    items: [box(20, 150, 190, 250), box(210, 150, 380, 250)],
  },
  { key: 'empty', box: box(0, 450, 400, 500), flow: 'down', items: [] },
];

const scenarios: { name: string; at: [number, number]; parent: string; index: number }[] = [
  { name: 'above the middle of the first: before it', at: [200, 20], parent: 'step', index: 0 },
  { name: 'below the middle of the first: behind it', at: [200, 80], parent: 'step', index: 1 },
  { name: 'inside the group, on the left: first', at: [60, 200], parent: 'group', index: 0 },
  { name: 'inside the group, between the two', at: [200, 200], parent: 'group', index: 1 },
  { name: 'inside the group, on the right: last', at: [360, 200], parent: 'group', index: 2 },
  { name: 'on the upper edge of the group: before the group', at: [200, 112], parent: 'step', index: 1 },
  { name: 'in the empty step', at: [10, 470], parent: 'empty', index: 0 },
  { name: 'far below all: the nearest', at: [10, 900], parent: 'empty', index: 0 },
  { name: 'beside the canvas: the step at that height', at: [-50, 20], parent: 'step', index: 0 },
];

for (const { name, at, parent, index } of scenarios) {
  test(`a drop ${name}`, () => {
    assert.deepEqual(findDropPosition(zones, ...at)?.spot, { parent, index });
  });
}

test('the drop line is between the two elements that the drop would separate', () => {
  assert.deepEqual(findDropPosition(zones, 200, 80)?.line, box(0, 105, 400, 105));
  assert.deepEqual(findDropPosition(zones, 200, 200)?.line, box(200, 150, 200, 250));
});

test('without drop zones there is no drop', () => {
  assert.equal(findDropPosition([], 0, 0), undefined);
});

test('a zone has gaps before, between and after its items, centered in the spacing of a row, and an empty zone has none', () => {
  const gaps = listInsertGaps(zones).map(({ spot, x, y, size }) => [spot.parent, spot.index, x, y, size]);
  assert.deepEqual(gaps, [
    ['step', 0, 16, -8, 16],
    ['step', 1, 16, 105, 16],
    ['step', 2, 16, 295, 16],
    ['step', 3, 16, 408, 16],
    ['group', 0, 12, 228, 16],
    ['group', 1, 200, 200, 20],
    ['group', 2, 388, 228, 16],
  ]);
});

test('in a right-to-left row, an element dropped on the right comes first', () => {
  const [, group] = zones;
  const row: DropZone = { ...group!, flow: 'left', items: group!.items.toReversed() };
  assert.deepEqual(findDropPosition([row], 370, 200)?.spot.index, 0);
  assert.deepEqual(findDropPosition([row], 200, 200)?.line, box(200, 150, 200, 250));
  assert.deepEqual(findDropPosition([row], 30, 200)?.line, box(12, 150, 12, 250));
  assert.deepEqual(
    listInsertGaps([row]).map(({ x, size }) => [x, size]),
    [
      [388, 16],
      [200, 20],
      [12, 16],
    ],
  );
});
