import { leastIdAt, timeOfId } from '#kit/clock.ts';

const dayMs = 86_400_000;

/** The least and the greatest of ids, of which there is one at least. */
export function idRange(ids: readonly string[]): { least: string; most: string } {
  const [first, ...others] = ids;
  let [least, most] = [first!, first!];
  for (const id of others) {
    if (id < least) least = id;
    if (id > most) most = id;
  }
  return { least, most };
}

/** What the events of deliveries in a range have ids in: made with them, and a day more for a clock that was set meanwhile. */
export const eventRange = ({ least, most }: { least: string; most: string }) => ({
  least_event: leastIdAt(new Date(timeOfId(least).getTime() - dayMs)),
  most_event: leastIdAt(new Date(timeOfId(most).getTime() + dayMs)),
});
