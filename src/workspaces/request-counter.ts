import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Log } from '#kit/log.ts';
import { connectValkey } from '#kit/valkey.ts';

/** The number of requests in a key's window, including this one, and the time until the window ends. */
export type WindowCount = { requests: number; msLeft: number };

/** Counts requests in fixed windows, by default of one minute. Exact even for parallel requests. */
export type RequestCounter = {
  /**
   * @param seconds the length of the window; must be constant for a key.
   * @param points the weight of the request; defaults to one.
   */
  count(key: string, seconds?: number, points?: number): Promise<WindowCount>;
  close(): Promise<void>;
};

/**
 * The window of a key begins with its first request and lasts a minute. The next request after that begins a
 * new window. If windows followed the clock, one short burst could straddle two. The library only counts (its
 * own limit is out of reach), because every workspace has its own limits.
 */
const counting = { duration: 60, points: Number.MAX_SAFE_INTEGER, keyPrefix: 'formloom-rate' };

/** The longest time that a request waits for Valkey. */
const valkeyLimitMs = 250;
/** How long requests bypass Valkey after a failure. */
const awayMs = 1_000;

/**
 * Opens the counter. It counts in the memory of this process, or in the Valkey (or Redis) server at
 * `valkeyUrl`, which all processes share. While Valkey is unavailable, requests are counted in memory and a
 * warning is logged.
 * @param options.countInMemory replaces the memory of this process, so that one process counts for all.
 */
export async function openRequestCounter(options: {
  valkeyUrl: string | undefined;
  log: Log;
  countInMemory?: RequestCounter['count'];
}): Promise<RequestCounter> {
  const { valkeyUrl, log } = options;
  const countInMemory = options.countInMemory ?? (await openMemory());
  if (valkeyUrl === undefined) return { count: countInMemory, close: async () => {} };
  const { RateLimiterRedis, RLWrapperTimeouts } = await import('rate-limiter-flexible');
  const valkey = await connectValkey(valkeyUrl, log);
  // The library's Redis class, because the script of its Valkey class runs on Valkey only.
  const shared = new RLWrapperTimeouts({
    limiter: new RateLimiterRedis({ ...counting, storeClient: valkey, useRedisPackage: true }),
    timeoutMs: valkeyLimitMs,
  });
  let isAway = false;
  let askAgainAt = 0;
  return {
    async count(key, seconds, points) {
      if (performance.now() < askAgainAt) return countInMemory(key, seconds, points);
      try {
        const count = await countWith(shared, key, seconds, points);
        if (isAway) log.info('Valkey is available again; rate limits are counted there');
        isAway = false;
        return count;
      } catch (error) {
        if (!isAway)
          log.warn({ err: error }, 'Valkey is unavailable; rate limits are counted in this process');
        isAway = true;
        askAgainAt = performance.now() + awayMs;
        return countInMemory(key, seconds, points);
      }
    },
    async close() {
      valkey.destroy();
    },
  };
}

/** Loads the library on first use: a process whose primary counts does not need it. */
async function openMemory(): Promise<RequestCounter['count']> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible');
  const memory = new RateLimiterMemory(counting);
  return (key, seconds, points) => countWith(memory, key, seconds, points);
}

async function countWith(
  limiter: RateLimiterAbstract,
  key: string,
  seconds: number = counting.duration,
  points = 1,
): Promise<WindowCount> {
  const { consumedPoints, msBeforeNext } = await limiter.consume(key, points, { customDuration: seconds });
  // The library uses the system clock. If the clock was ahead and is set back, the end of a window would be
  // far away.
  return { requests: consumedPoints, msLeft: Math.min(msBeforeNext, seconds * 1_000) };
}
