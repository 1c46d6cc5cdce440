/**
 * How many jobs of each lane run in this process, and for how many more there is room.
 *
 * A lane may use its kind's cap until one of its runs is slow, then a quarter of it until one is quick again. So a
 * dead receiver, whose every job takes the whole deadline, holds 2 of the process's 64 places and not 8, while one
 * that answers keeps its full width.
 */
export type Lanes = {
  /** @param cap how many of the lane may run at once. */
  begin(name: string, cap: number): void;
  end(name: string, isSlow: boolean): void;
  /** Lanes without room. */
  full(): string[];
  /** Lanes with some room, but less than their cap. A lane that is in neither list has its cap. */
  partlyFull(): { names: string[]; rooms: number[] };
};

type Lane = { cap: number; running: number; isSlow: boolean };

const roomOf = ({ cap, running, isSlow }: Lane): number => (isSlow ? Math.ceil(cap / 4) : cap) - running;

export function openLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    begin(name, cap) {
      const lane = lanes.get(name) ?? { cap, running: 0, isSlow: false };
      lane.running += 1;
      lanes.set(name, lane);
    },
    end(name, isSlow) {
      const lane = lanes.get(name)!;
      lane.running -= 1;
      lane.isSlow = isSlow;
      // Slow ones are remembered while nothing of them runs: their next job may be hours away.
      if (lane.running === 0 && !isSlow) lanes.delete(name);
    },
    full: () => [...lanes].filter(([, lane]) => roomOf(lane) <= 0).map(([name]) => name),
    partlyFull() {
      const open = [...lanes].filter(([, lane]) => roomOf(lane) > 0);
      return { names: open.map(([name]) => name), rooms: open.map(([, lane]) => roomOf(lane)) };
    },
  };
}
