import { setImmediate } from 'node:timers/promises';

/** So much is done in one turn: as much as takes a few ms for each character of a text. */
export const turnSize = 262_144;

/**
 * Items one after the other, with a turn of the event loop for everybody else whenever those since the last one come to
 * `turnSize`.
 */
export async function* inTurns<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
): AsyncGenerator<Item> {
  let size = 0;
  for (const item of items) {
    yield item;
    size += sizeOf(item);
    if (size < turnSize) continue;
    await setImmediate();
    size = 0;
  }
}

/** What becomes of each item, in turns as `inTurns` takes them: in one, where they are small. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  map: (item: Item) => Result,
): Promise<Result[]> {
  let size = 0;
  for (const item of items) size += sizeOf(item);
  if (size < turnSize) return items.map(map);
  const results: Result[] = [];
  for await (const item of inTurns(items, sizeOf)) results.push(map(item));
  return results;
}
