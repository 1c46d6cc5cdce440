/** How many jobs of a lane may run at once in a process: at first, and once a run of it was quick. */
export type Width = { perLane: number; perQuickLane?: number };

/** How long a run was: a slow one narrows its lane, a quick one widens it. */
export type Pace = 'quick' | 'usual' | 'slow';

/**
 * How many jobs of each lane run in this process, and for how many more there is room.
 *
 * A lane may use its kind's cap. After a slow run that is a quarter of it until one is not slow, and after a quick
 * one it is the wider cap, if its kind has one. So a dead receiver, whose every job takes the whole deadline, holds 2
 * of the process's 128 places, a new one 8, and one that answers at once 32.
 *
 * While places are scarce, lanes take turns: one that was served is left out until every other that waits was.
 */
export type Lanes = {
  begin(name: string, width: Width): void;
  end(name: string, pace: Pace): void;
  /** Lanes that get nothing now: without room, or served in this round. */
  closed(): string[];
  /** Open lanes whose room is not their kind's cap, and that room. */
  rooms(): { names: string[]; rooms: number[] };
  /** These were served and no place is left: the others come first. */
  served(names: Iterable<string>): void;
  /** Every lane is open again. @returns false when it was already so. */
  newRound(): boolean;
};

type Lane = Width & { running: number; pace: Pace };

const slowShare = 1 / 4;

function roomOf({ perLane, perQuickLane = perLane, running, pace }: Lane): number {
  const caps = { quick: perQuickLane, usual: perLane, slow: Math.ceil(perLane * slowShare) };
  return caps[pace] - running;
}

export function openLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  const done = new Set<string>();
  return {
    begin(name, width) {
      const lane = lanes.get(name) ?? { ...width, running: 0, pace: 'usual' as const };
      lane.running += 1;
      lanes.set(name, lane);
    },
    end(name, pace) {
      const lane = lanes.get(name)!;
      lane.running -= 1;
      lane.pace = pace;
      // Slow ones are remembered while nothing of them runs: their next job may be hours away.
      if (lane.running === 0 && pace !== 'slow') lanes.delete(name);
    },
    closed: () => [
      ...new Set([...done, ...[...lanes].filter(([, lane]) => roomOf(lane) <= 0).map(([name]) => name)]),
    ],
    rooms() {
      const open = [...lanes].filter(([name, lane]) => roomOf(lane) > 0 && !done.has(name));
      return { names: open.map(([name]) => name), rooms: open.map(([, lane]) => roomOf(lane)) };
    },
    served(names) {
      for (const name of names) done.add(name);
    },
    newRound() {
      const wasOpen = done.size === 0;
      done.clear();
      return !wasOpen;
    },
  };
}
