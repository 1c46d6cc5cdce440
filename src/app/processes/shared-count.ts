import { ApiError } from '#kit/errors.ts';
import { gather } from '#kit/gather.ts';
import { PrimaryGone } from '#kit/processes/primary-link.ts';
import type { Count, RequestCounter } from '#workspaces/request-counter.ts';

/*
 * Rate limits hold for all processes of an instance together: the primary counts, the others ask it. What is asked while
 * an answer is on its way goes together, so that a process under load sends a message for many requests.
 */

type Question = { key: string; seconds: number | undefined; points: number | undefined };

/** More requests than a process begins within the millisecond that an answer takes. */
const mostAtOnce = 200;

/**
 * Counts through the primary. When that is gone, a request is answered 503: the next start counts anew.
 * @param ask sends a question to it (kit/processes/primary-link.ts).
 */
export function countThroughPrimary(
  ask: (questions: readonly Question[]) => Promise<readonly Count[]>,
): RequestCounter['count'] {
  const count = gather(ask, { most: mostAtOnce, atOnce: 1 });
  return async (key, seconds, points) => {
    try {
      return await count({ key, seconds, points });
    } catch (cause) {
      if (!(cause instanceof PrimaryGone)) throw cause;
      throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
    }
  };
}

/** The primary's side: counts what a process asks. */
export function countForProcesses(counter: RequestCounter): (question: unknown) => Promise<readonly Count[]> {
  return (questions) =>
    Promise.all(
      (questions as readonly Question[]).map(({ key, seconds, points }) =>
        counter.count(key, seconds, points),
      ),
    );
}
