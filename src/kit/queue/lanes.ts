import { LaneNarrowed, type LaneTurn } from '../queue.ts';
import { capOf, isOpen, isOver, type Lane, learn, newLane, roomOf, type Width } from './lane.ts';
import { openPlaces } from './places.ts';

/**
 * How many jobs of each lane this process holds and has inside, and for how many more there is room.
 *
 * A dead receiver, whose every job takes the whole deadline, gets 2 of the process's places, a new one 8, and one that
 * answers at once 32. Only of such a one are jobs claimed ahead, and no more than it takes in a quarter of a second;
 * when it turns slow, they are given back.
 *
 * While a process can hold no more, lanes take turns: one that was served is left out of the claims until every other
 * that waits was.
 */
export type Lanes = {
  /** A job of the lane was claimed: its turn, which ends with `leave`, also when it was never inside. */
  lineUp(name: string, width: Width, signal: AbortSignal): LaneTurn;
  /** Lanes of which nothing is to be claimed now: without enough room, or served in this round. */
  closed(): string[];
  /** Lanes whose room is not their kind's cap, and that room; the closed ones of this round among them. */
  rooms(): { names: string[]; rooms: number[] };
  /** These were served and no more can be held: the others come first. */
  served(names: Iterable<string>): void;
  /** Every lane is open again. @returns false when it was already so. */
  newRound(): boolean;
  /** Lanes that were closed and are open: asked once, unless they are kept. */
  takeOpened(): string[];
  /** Of what was taken there may be more: it is still to be asked for, while the lane stays open. */
  keepOpened(names: readonly string[]): void;
};

type LanesOptions = {
  /** How many jobs of all lanes may be inside. */
  places: number;
  /** Is told when a lane that was closed has room again. */
  onOpen: () => void;
  /** Milliseconds of any clock that only goes forward. */
  clock?: () => number;
};

export function openLanes({ places: count, onOpen, clock = () => performance.now() }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>();
  const done = new Set<string>();
  const opened = new Set<string>();
  const places = openPlaces(count);

  const ended = (lane: Lane, ms: number): void => {
    learn(lane, ms);
    places.giveBack(lane);
    if (lane.pace !== 'slow') return;
    const staying = Math.max(capOf(lane) - lane.inside, 0);
    for (const waiting of [...lane.waiting].slice(staying)) waiting.refuse(new LaneNarrowed());
  };

  const forget = (): void => {
    for (const [name, lane] of lanes) if (isOver(lane, clock())) lanes.delete(name);
  };

  return {
    lineUp(name, width, signal) {
      const lane = lanes.get(name) ?? newLane(width);
      lanes.set(name, lane);
      lane.held += 1;
      if (!isOpen(lane)) opened.delete(name);
      let entered: number | undefined;
      let hasLeft = false;
      return {
        async enter() {
          if (entered !== undefined) return;
          await places.take(lane, signal);
          entered = clock();
        },
        leave() {
          if (hasLeft) return;
          hasLeft = true;
          const wasOpen = isOpen(lane);
          lane.held -= 1;
          lane.leftAt = clock();
          if (entered !== undefined) ended(lane, lane.leftAt - entered);
          if (wasOpen || !isOpen(lane)) return;
          opened.add(name);
          onOpen();
        },
      };
    },
    closed: () => [
      ...new Set([...done, ...[...lanes].filter(([, lane]) => !isOpen(lane)).map(([name]) => name)]),
    ],
    rooms() {
      forget();
      const open = [...lanes].filter(([, lane]) => isOpen(lane));
      return { names: open.map(([name]) => name), rooms: open.map(([, lane]) => roomOf(lane)) };
    },
    served(names) {
      for (const name of names) done.add(name);
    },
    newRound() {
      const wasOpen = done.size === 0;
      for (const name of done) opened.add(name);
      done.clear();
      return !wasOpen;
    },
    takeOpened() {
      const names = [...opened];
      opened.clear();
      return names;
    },
    keepOpened(names) {
      for (const name of names) opened.add(name);
    },
  };
}
