import { capOf, type Lane, type Waiting } from './lane.ts';

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
