import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseTimeout } from './database.ts';
import { rateLimitExceeded } from './errors.ts';
import type { Server } from './http.ts';

type BatchOptions = {
  /** The maximum size of a batch. */
  most: number;
  /** The maximum number of batches that run at the same time. */
  atOnce: number;
  /** How many items must be waiting before another batch starts while one is running. Default: 1. */
  leastBeside?: number;
};

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/**
 * Batches calls: calls made in one turn of the event loop, or while earlier batches run, share one request.
 * Batches grow under load. A single call does not wait.
 *
 * If a batch fails, its items are retried one by one, so that one bad item does not fail the others. A failed
 * batch must therefore write nothing: use one statement or one transaction. Nothing is retried if the
 * database does not respond, because every waiting call would wait for another timeout.
 * @param ask returns a result for each item, in order.
 */
export function batchCalls<Item, Result>(
  ask: (items: readonly Item[]) => Promise<readonly Result[]>,
  { most, atOnce, leastBeside = 1 }: BatchOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let isPlanned = false;

  const askFor = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await ask(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      if (isDatabaseTimeout(error)) for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      else if (batch.length === 1) batch[0]!.reject(error);
      else await Promise.all(batch.map((single) => askFor([single])));
    }
  };

  const plan = (): void => {
    const least = running === 0 ? 1 : leastBeside;
    if (isPlanned || running >= atOnce || waiting.length < least) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      running += 1;
      void askFor(waiting.splice(0, most)).finally(() => {
        running -= 1;
        plan();
      });
      plan();
    });
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      plan();
    });
}

type CoalescedCall<Result> = { running: number; next: PromiseWithResolvers<Result> | undefined };

/**
 * Coalesces calls with the same key: calls in one turn of the event loop, or while `atOnce` requests are
 * running, share the next request. It starts after all of them were made. A single call does not wait.
 *
 * If the database does not respond, waiting calls fail with the running one. A retry would wait for another
 * timeout.
 * @param options.atOnce concurrent requests for one key, so that a slow request does not block the next one.
 */
export function coalesceCalls<Key, Result>(
  ask: (key: Key) => Promise<Result>,
  { atOnce }: { atOnce: number },
): (key: Key) => Promise<Result> {
  const calls = new Map<Key, CoalescedCall<Result>>();

  const begin = (key: Key, of: CoalescedCall<Result>): void => {
    if (!of.next || of.running >= atOnce) return;
    const { resolve, reject } = of.next;
    of.next = undefined;
    of.running += 1;
    const fail = (error: unknown): void => {
      reject(error);
      if (!isDatabaseTimeout(error)) return;
      of.next?.reject(error);
      of.next = undefined;
    };
    void ask(key)
      .then(resolve, fail)
      .finally(() => {
        of.running -= 1;
        if (of.next) begin(key, of);
        else if (of.running === 0) calls.delete(key);
      });
  };

  return (key) => {
    const of = calls.get(key) ?? { running: 0, next: undefined };
    calls.set(key, of);
    if (!of.next) {
      of.next = Promise.withResolvers();
      setImmediate(() => begin(key, of));
    }
    return of.next.promise;
  };
}

/**
 * Limits the concurrent work of one owner in this process, so that owners share its capacity fairly.
 * @param most the limit per owner. @param refusal the reason and the seconds until a retry, for calls over
 * the limit.
 * @returns `enter` counts work of an owner (a workspace id) until the function it returns is called; `run`
 * counts work until it ends. Both throw ApiError rate_limit_exceeded over the limit.
 */
export function limitConcurrency(most: number, refusal: { seconds: number; why: string }) {
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

/** The amount of work before yielding to the event loop: a few ms of work on this many characters. */
export const yieldAfterSize = 262_144;

/** Yields items in order, and yields to the event loop each time their total size reaches `yieldAfterSize`. */
export async function* iterateWithYields<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
): AsyncGenerator<Item> {
  let size = 0;
  for (const item of items) {
    yield item;
    size += sizeOf(item);
    if (size < yieldAfterSize) continue;
    await nextTurn();
    size = 0;
  }
}

/**
 * Maps items, yielding to the event loop as `iterateWithYields` does. Small inputs are mapped without
 * yielding.
 */
export async function mapWithYields<Item, Result>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  map: (item: Item) => Result,
): Promise<Result[]> {
  let size = 0;
  for (const item of items) size += sizeOf(item);
  if (size < yieldAfterSize) return items.map(map);
  const results: Result[] = [];
  for await (const item of iterateWithYields(items, sizeOf)) results.push(map(item));
  return results;
}

/** Waits for work until the signal aborts. The work itself is not canceled. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    // The signal may live as long as the process, so its listeners must be removed.
    signal.removeEventListener('abort', end);
  }
}

/**
 * How long the shutdown waits for requests on open connections: half a second without requests. The next
 * response on each connection then announces that it is the last. The wait consists of intervals in which the
 * event loop reads what has arrived, so it is longer on a busy machine. While requests arrive, closing idle
 * connections gains nothing: a client may be slow, or choose among several connections. Each request closes
 * one connection, so the wait ends.
 */
const lastAnswers = { moments: 25, ms: 20 };
/** More than the connections that can wait, so that a flood of new ones does not delay the shutdown. */
const maxAcceptRounds = 1_000;
/** A turn of the event loop with nothing to do takes a few microseconds. */
const idleLoopMs = 0.1;

/**
 * Prepares a graceful shutdown that completes every request a client has begun. First, it accepts no new
 * connections. Then the next response on each connection is its last, and connections without a request are
 * closed after a short wait. Call this before the server listens or receives connections from the listener.
 * @returns a function that resolves when all connections are closed. After `graceMs` milliseconds it closes
 * the rest.
 */
export function prepareGracefulShutdown(server: Server): (graceMs: number) => Promise<void> {
  const http = server.server;
  const sockets = new Set<Socket>();
  let isLast = false;
  const answering = { count: 0, total: 0 };
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  http.prependListener('request', (_request, response) => {
    answering.count += 1;
    answering.total += 1;
    response.once('close', () => (answering.count -= 1));
    if (isLast) response.setHeader('Connection', 'close');
  });
  return async (graceMs) => {
    await acceptWaitingConnections(http);
    // Not HTTP's own close: it ends idle connections, on which a client may already be sending.
    NetServer.prototype.close.call(http);
    // Not the server's `close` event: it covers only the connections that the server itself accepted.
    const closed = Promise.all(
      [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    isLast = true;
    const forced = setTimeout(() => http.closeAllConnections(), graceMs);
    const state = { isClosed: false };
    void closed.then(() => (state.isClosed = true));
    const until = performance.now() + graceMs / 2;
    for (let quiet = 0; quiet < lastAnswers.moments; quiet += 1) {
      if (state.isClosed || performance.now() >= until) break;
      const { total } = answering;
      await sleep(lastAnswers.ms);
      if (answering.count > 0 || answering.total > total) quiet = 0;
    }
    http.closeIdleConnections();
    // Browsers open connections in advance. Node does not count these as idle and would wait for a request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await closed;
    clearTimeout(forced);
    await server.close();
  };
}

/**
 * Accepts waiting connections before the listening socket is closed, because closing it resets those that
 * only the system has accepted. Node accepts one in each turn of the event loop, so this waits for a short
 * turn without a new one. The caller must close in the same turn. Connections that arrive during that turn
 * are reset.
 */
export async function acceptWaitingConnections(server: NetServer): Promise<void> {
  let hasCome = false;
  const note = (): void => {
    hasCome = true;
  };
  server.on('connection', note);
  await nextTurn();
  for (let turn = 0; turn < maxAcceptRounds; turn += 1) {
    hasCome = false;
    const began = performance.now();
    await nextTurn();
    if (!hasCome && performance.now() - began < idleLoopMs) break;
  }
  server.off('connection', note);
}
