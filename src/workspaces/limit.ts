import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import type { RequestCounter } from './request-counter.ts';

/** Requests that pass in a window: `perMinute`, and `burst` beyond it. A Caller has both. */
export type Rate = { readonly perMinute: number; readonly burst: number };

/**
 * The rate of requests without a valid key, counted by address (address-key.ts): far above what a test suite sends, and
 * guesses at 256 random bits need no lower one.
 */
export const anonymousRate: Rate = { perMinute: 1_000, burst: 0 };

/** The window of a person, over all their workspaces and whatever their browser asks (`CONSOLE_PER_MINUTE`). */
export const windowOfPerson = (userId: string): string => `console of ${userId}`;

/** What every answer of the API carries. Specification, "API rate limits". */
type RateHeaders = Record<'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset', string>;

/**
 * Counts one request against the window of `key`: a workspace's id, so that its keys share one window, or an
 * address. docs/rules.md 12: `perMinute + burst` requests pass in a window; Remaining counts down from `perMinute` and
 * stays 0 in the burst; Reset is the Unix second in which the window has ended.
 * @returns the headers, and when the request is one too many, `exceeded`: the whole seconds to wait, at least 1.
 */
export async function takeRequest(
  counter: RequestCounter,
  key: string,
  rate: Rate,
): Promise<{ headers: RateHeaders; exceeded?: number }> {
  const at = now().getTime();
  const { requests, msLeft } = await counter.count(key);
  const headers = {
    'X-RateLimit-Limit': String(rate.perMinute),
    'X-RateLimit-Remaining': String(Math.max(0, rate.perMinute - requests)),
    'X-RateLimit-Reset': String(Math.ceil((at + msLeft) / 1_000)),
  };
  if (requests <= rate.perMinute + rate.burst) return { headers };
  return { headers, exceeded: secondsToWait(msLeft) };
}

/** Whole seconds, at least 1, until a window has ended. */
const secondsToWait = (msLeft: number): number => Math.max(1, Math.ceil(msLeft / 1_000));

/**
 * Counts one more of what may be done `most` times in a window.
 * @param options.seconds the length of the window, a minute unless said; `why` as rateLimitExceeded has it.
 * @throws ApiError rate_limit_exceeded with the wait.
 */
export async function countUpTo(
  counter: RequestCounter,
  key: string,
  most: number,
  { seconds, why }: { seconds?: number; why?: string } = {},
): Promise<void> {
  const { requests, msLeft } = await counter.count(key, seconds);
  if (requests > most) throw rateLimitExceeded(secondsToWait(msLeft), why);
}
