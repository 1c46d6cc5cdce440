import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Log } from '#kit/log.ts';
import { connectValkey } from '#kit/valkey.ts';

/** How many requests a key has made in its window, this one included, and when the window ends. */
export type Count = { requests: number; msLeft: number };

/** Counts requests in fixed windows, of one minute unless said, exactly, also under parallel requests. */
export type RequestCounter = {
  /**
   * @param seconds the length of the window; always the same for a key.
   * @param points what it counts as; one unless said.
   */
  count(key: string, seconds?: number, points?: number): Promise<Count>;
  close(): Promise<void>;
};

/**
 * The window of a key begins with its first request and lasts a minute; the first request after that begins the
 * next. Windows of the clock's minutes would let one short run of requests straddle two of them.
 * The library only counts (its own limit is out of reach): every workspace has its own numbers.
 */
const counting = { duration: 60, points: Number.MAX_SAFE_INTEGER, keyPrefix: 'formloom-rate' };

/** A request waits this long for Valkey at most. */
const valkeyLimitMs = 250;
/** After a failure, requests do not wait for Valkey for so long. */
const awayMs = 1_000;

/**
 * Opens the counter: in the memory of this process, which then counts for itself, or in the Valkey (or Redis) at
 * `valkeyUrl`, which all processes share.
 * When Valkey is away, requests are counted in memory until it is back: they pass, and it is logged.
 * @param options.countInMemory counts in place of this process's memory: of several, one counts for all.
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
  // The library's Redis class and not its Valkey one: the script of the latter runs on Valkey only.
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
        if (isAway) log.info('Valkey is back: rate limits are counted there');
        isAway = false;
        return count;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'Valkey is away: rate limits are counted in this process');
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

/** The library is loaded where something is counted: a process whose primary counts has no use for it. */
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
): Promise<Count> {
  const { consumedPoints, msBeforeNext } = await limiter.consume(key, points, { customDuration: seconds });
  // The library counts by the clock: one that was ahead and went back would put the end of a window far away.
  return { requests: consumedPoints, msLeft: Math.min(msBeforeNext, seconds * 1_000) };
}
