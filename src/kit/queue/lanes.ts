import { LaneNarrowed, type LaneSlot } from '../queue.ts';

/** The concurrency limit of a lane in a process: initially, and after a quick run. */
export type LaneWidth = {
  perLane: number;
  perQuickLane?: number;
  /**
   * How many more jobs of a quick lane may be claimed and prepared in advance. The handler must then enter
   * the lane itself. Without this, a job has its slot from the start.
   */
  ahead?: number;
};

/** The state of a lane in this process. */
type Lane = {
  width: LaneWidth;
  /** The pace of the last run: a slow run narrows the lane, a quick one widens it. */
  pace: 'quick' | 'usual' | 'slow';
  /** The average duration of a run in ms. Recent runs weigh most. */
  runMs: number | undefined;
  /** The number of claimed jobs that have not left. */
  claimed: number;
  /** How many of the claimed jobs have a slot. */
  inside: number;
  /** Waiting jobs in order of arrival. */
  waiting: Set<Waiting>;
  /** When the last job left, by the clock of the lanes. */
  leftAt: number;
};

/** A job that waits for a slot. */
type Waiting = { admit(): void; refuse(reason: Error): void };

/** Runs below this are quick. */
const quickMs = 1_000;
/** Runs above this are slow: half the default timeout of webhooks. */
const slowMs = 5_000;
const slowShare = 1 / 4;
/** The longest wait of jobs that are claimed ahead, if the lane keeps its pace. */
const aheadMs = 250;
const averageOver = 8;
/** How long the state of an idle lane is kept: a slow one until the hourly retry, others briefly. */
const rememberedMs = { slow: 3_600_000, usual: 5_000, quick: 5_000 } as const;

export const newLane = (width: LaneWidth): Lane => ({
  width,
  pace: 'usual',
  runMs: undefined,
  claimed: 0,
  inside: 0,
  waiting: new Set(),
  leftAt: 0,
});

/**
 * Returns the limit of a lane: that of its kind, a quarter after a slow run, or the wider one after a quick
 * run.
 */
function capOf({ width: { perLane, perQuickLane = perLane }, pace }: Lane): number {
  const caps = { quick: perQuickLane, usual: perLane, slow: Math.ceil(perLane * slowShare) };
  return caps[pace];
}

function aheadOf(lane: Lane): number {
  const { width, pace, runMs } = lane;
  if (width.ahead === undefined || pace !== 'quick' || runMs === undefined) return 0;
  return Math.min(width.ahead, Math.floor((capOf(lane) * aheadMs) / Math.max(runMs, 1)));
}

/** Returns how many more jobs may be claimed. */
const roomOf = (lane: Lane): number => capOf(lane) + aheadOf(lane) - lane.claimed;

/** Returns whether to claim: jobs claimed ahead are refilled in halves, not one by one. */
const isOpen = (lane: Lane): boolean => roomOf(lane) >= Math.max(1, aheadOf(lane) / 2);

/** Updates pace and average with the duration of a run. */
function learn(lane: Lane, ms: number): void {
  lane.pace = ms > slowMs ? 'slow' : ms > quickMs ? 'usual' : 'quick';
  lane.runMs = lane.runMs === undefined ? ms : lane.runMs + (ms - lane.runMs) / averageOver;
}

/** Returns whether the lane is idle and its state is out of date. */
const isOver = ({ claimed, leftAt, pace }: Lane, now: number): boolean =>
  claimed === 0 && now - leftAt > rememberedMs[pace];

/** The job slots of a process. Lanes with waiting jobs get free slots in turn. */
type JobSlots = {
  /** @throws the signal's reason, or that of `refuse`, if it comes before a slot. */
  take(lane: Lane, signal: AbortSignal): Promise<void>;
  giveBack(lane: Lane): void;
};

export function openJobSlots(count: number): JobSlots {
  /** Lanes with waiting jobs, in order of their turns. */
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
      // A lane that moves to the end is visited again in this loop.
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
 * Tracks the claimed and running jobs of each lane in this process, and its free capacity.
 *
 * A dead receiver, where every job takes the full timeout, gets 2 slots of the process; a new one gets 8, and
 * a quick one 32. Jobs are claimed ahead only for quick lanes, and at most for a quarter of a second. If a
 * quick lane becomes slow, these jobs are returned.
 *
 * While the process is full, lanes take turns: a lane that was served is skipped until all other waiting
 * lanes were served.
 */
export type Lanes = {
  /** Registers a claimed job. The caller must call `leave` at the end, even if the job never entered. */
  lineUp(name: string, width: LaneWidth, signal: AbortSignal): LaneSlot;
  /** Returns the lanes to skip: without enough free capacity, or already served in this round. */
  closed(): string[];
  /**
   * Returns the lanes whose free capacity differs from their kind's limit, with that capacity. Includes lanes
   * that are closed in this round.
   */
  rooms(): { names: string[]; rooms: number[] };
  /** Marks lanes as served while the process is full, so that others come first. */
  served(names: Iterable<string>): void;
  /** Opens every lane again. @returns false if all were open. */
  newRound(): boolean;
  /** Returns lanes that have reopened, each once unless it is kept. */
  takeOpened(): string[];
  /** Keeps reopened lanes that may have more jobs, while they stay open. */
  keepOpened(names: readonly string[]): void;
};

type LanesOptions = {
  /** The number of job slots for all lanes. */
  places: number;
  /** Is called when a closed lane has free capacity again. */
  onOpen: () => void;
  /** Milliseconds of a monotonic clock. */
  clock?: () => number;
};

export function openLanes({ places: count, onOpen, clock = () => performance.now() }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>();
  const done = new Set<string>();
  const opened = new Set<string>();
  const places = openJobSlots(count);

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
      lane.claimed += 1;
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
          lane.claimed -= 1;
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
