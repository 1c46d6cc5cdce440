import { ApiError } from './errors.ts';

const waitSeconds = 5;

/**
 * Lets a few of one owner's works run at once in a process, where each keeps a processor busy for long.
 * @param most how many of one owner. @param what they are, for whoever has to wait: "finds of a person run".
 * @returns runs the work of an owner, the id of a workspace; it throws what the work throws, and ApiError rate_limit_exceeded
 *   while so many of the owner run.
 */
export function fewAtOnce(
  most: number,
  what: string,
): <Result>(owner: string, work: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, number>();
  return async (owner, work) => {
    const before = running.get(owner) ?? 0;
    if (before >= most)
      throw new ApiError(
        'rate_limit_exceeded',
        `In this workspace ${most} ${what}. Try again in ${waitSeconds} seconds.`,
        { retryAfter: waitSeconds },
      );
    running.set(owner, before + 1);
    try {
      return await work();
    } finally {
      const left = running.get(owner)! - 1;
      if (left > 0) running.set(owner, left);
      else running.delete(owner);
    }
  };
}
