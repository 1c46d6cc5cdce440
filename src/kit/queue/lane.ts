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
export type Lane = {
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
export type Waiting = { admit(): void; refuse(reason: Error): void };

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
export function capOf({ width: { perLane, perQuickLane = perLane }, pace }: Lane): number {
  const caps = { quick: perQuickLane, usual: perLane, slow: Math.ceil(perLane * slowShare) };
  return caps[pace];
}

function aheadOf(lane: Lane): number {
  const { width, pace, runMs } = lane;
  if (width.ahead === undefined || pace !== 'quick' || runMs === undefined) return 0;
  return Math.min(width.ahead, Math.floor((capOf(lane) * aheadMs) / Math.max(runMs, 1)));
}

/** How many more may be claimed. */
export const roomOf = (lane: Lane): number => capOf(lane) + aheadOf(lane) - lane.held;

/** Whether claiming is worth while: what is claimed ahead comes by the half, not one by one. */
export const isOpen = (lane: Lane): boolean => roomOf(lane) >= Math.max(1, aheadOf(lane) / 2);

/** Takes up how long a run was. */
export function learn(lane: Lane, ms: number): void {
  lane.pace = ms > slowMs ? 'slow' : ms > quickMs ? 'usual' : 'quick';
  lane.runMs = lane.runMs === undefined ? ms : lane.runMs + (ms - lane.runMs) / averageOver;
}

/** Whether nothing of the lane is held, and what it was says nothing any more. */
export const isOver = ({ held, leftAt, pace }: Lane, now: number): boolean =>
  held === 0 && now - leftAt > rememberedMs[pace];
