import { LaneNarrowed, type LaneTurn } from '../queue.ts';

/** How many jobs of a lane may be inside at once in a process: at first, and once a run of it was quick. */
export type Width = {
  perLane: number;
  perQuickLane?: number;
  /**
   * How many more of a quick lane may be claimed and got ready while they wait for their turn. The handler then
   * enters the lane by itself; without it, a job is inside from its beginning.
   */
  ahead?: number;
};

/** What a process knows of a lane while it holds jobs of it. */
type Lane = {
  width: Width;
  /** Of the last run: a slow one narrows its lane, a quick one widens it. */
  pace: 'quick' | 'usual' | 'slow';
  /** What a run takes, in ms: an average in which the last few weigh most. */
  runMs: number | undefined;
  /** Jobs that were claimed and have not left. */
  held: number;
  /** Of these, how many are inside. */
  inside: number;
  /** In the order in which they came. */
  waiting: Set<Waiting>;
  /** When the last one left, by the clock of the lanes. */
  leftAt: number;
};

/** A job that waits until it may go inside. */
type Waiting = { admit(): void; refuse(reason: Error): void };

/** A shorter run is quick. */
const quickMs = 1_000;
/** A longer one is slow: half the time that a webhook's receiver usually has. */
const slowMs = 5_000;
const slowShare = 1 / 4;
/** What is claimed ahead waits no longer than this while the lane keeps its pace. */
const aheadMs = 250;
const averageOver = 8;
/** How long a lane of which nothing is held keeps what it was: a slow one until the retry in an hour, another briefly. */
const rememberedMs = { slow: 3_600_000, usual: 5_000, quick: 5_000 } as const;

export const newLane = (width: Width): Lane => ({
  width,
  pace: 'usual',
  runMs: undefined,
  held: 0,
  inside: 0,
  waiting: new Set(),
  leftAt: 0,
});

/** How many may be inside: the kind's cap, a quarter of it after a slow run, the wider one after a quick run. */
function capOf({ width: { perLane, perQuickLane = perLane }, pace }: Lane): number {
  const caps = { quick: perQuickLane, usual: perLane, slow: Math.ceil(perLane * slowShare) };
  return caps[pace];
}

function aheadOf(lane: Lane): number {
  const { width, pace, runMs } = lane;
  if (width.ahead === undefined || pace !== 'quick' || runMs === undefined) return 0;
  return Math.min(width.ahead, Math.floor((capOf(lane) * aheadMs) / Math.max(runMs, 1)));
}

/** How many more may be claimed. */
const roomOf = (lane: Lane): number => capOf(lane) + aheadOf(lane) - lane.held;

/** Whether claiming is worth while: what is claimed ahead comes by the half, not one by one. */
const isOpen = (lane: Lane): boolean => roomOf(lane) >= Math.max(1, aheadOf(lane) / 2);

/** Takes up how long a run was. */
function learn(lane: Lane, ms: number): void {
  lane.pace = ms > slowMs ? 'slow' : ms > quickMs ? 'usual' : 'quick';
  lane.runMs = lane.runMs === undefined ? ms : lane.runMs + (ms - lane.runMs) / averageOver;
}

/** Whether nothing of the lane is held, and what it was says nothing any more. */
const isOver = ({ held, leftAt, pace }: Lane, now: number): boolean =>
  held === 0 && now - leftAt > rememberedMs[pace];

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
