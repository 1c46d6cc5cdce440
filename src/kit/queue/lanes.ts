import { LaneNarrowed, type LaneTurn } from '../queue.ts';
import {
  capOf,
  isOpen,
  isOver,
  type Lane,
  learn,
  newLane,
  roomOf,
  type Waiting,
  type Width,
} from './lane.ts';

/** The places of a process: so many jobs may be inside of their lanes. Who waits gets one lane by lane in turn. */
type Places = {
  /** @throws the signal's reason, or that of `refuse`, when it comes before a place. */
  take(lane: Lane, signal: AbortSignal): Promise<void>;
  giveBack(lane: Lane): void;
};

export function openPlaces(count: number): Places {
  /** Lanes of which jobs wait, in the order of their turns. */
  const inTurn = new Set<Lane>();
  let left = count;

  const take = (lane: Lane): void => {
    lane.inside += 1;
    left -= 1;
  };

  const wait = (lane: Lane, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', giveUp);
        lane.waiting.delete(waiting);
        if (lane.waiting.size === 0) inTurn.delete(lane);
      };
      const giveUp = (): void => waiting.refuse(signal.reason as Error);
      const waiting: Waiting = {
        admit() {
          leave();
          take(lane);
          resolve();
        },
        refuse(reason) {
          leave();
          reject(reason);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      lane.waiting.add(waiting);
      inTurn.add(lane);
    });

  return {
    async take(lane, signal) {
      signal.throwIfAborted();
      const isFree = left > 0 && lane.inside < capOf(lane) && lane.waiting.size === 0;
      if (isFree) take(lane);
      else await wait(lane, signal);
    },
    giveBack(lane) {
      lane.inside -= 1;
      left += 1;
      // A lane that goes to the end comes up again in the same walk.
      for (const each of inTurn) {
        if (left === 0) return;
        if (each.inside >= capOf(each)) continue;
        inTurn.delete(each);
        const [first] = each.waiting;
        first!.admit();
        if (each.waiting.size > 0) inTurn.add(each);
      }
    },
  };
}

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
