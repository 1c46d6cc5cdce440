import { rateLimitExceeded } from './errors.ts';

/**
 * Lets a few of one owner's works be under way at once in a process, where each takes a share of what it can do for everybody.
 * @param most how many of one owner. @param refusal what whoever comes beyond them is told, and when to come again.
 * @returns `enter` counts a work of an owner, the id of a workspace, until what it returns is called; `run` counts it until it
 *   has ended. Both throw ApiError rate_limit_exceeded while so many of the owner are under way.
 */
export function fewAtOnce(most: number, refusal: { seconds: number; why: string }) {
  const underWay = new Map<string, number>();
  const enter = (owner: string): (() => void) => {
    const before = underWay.get(owner) ?? 0;
    if (before >= most) throw rateLimitExceeded(refusal.seconds, refusal.why);
    underWay.set(owner, before + 1);
    return () => {
      const left = underWay.get(owner)! - 1;
      if (left > 0) underWay.set(owner, left);
      else underWay.delete(owner);
    };
  };
  const run = async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    const leave = enter(owner);
    try {
      return await work();
    } finally {
      leave();
    }
  };
  return { enter, run };
}
