import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isSilent } from './database.ts';
import { rateLimitExceeded } from './errors.ts';
import type { Server } from './http.ts';

type GatherOptions = {
  /** How much goes together. */
  most: number;
  /** How many of such batches run at the same time. */
  atOnce: number;
  /** How much must wait for a batch to run beside another (1): below it, it is worth while to wait for that one. */
  leastBeside?: number;
};

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/**
 * Makes of many questions one: what is asked in one turn of the event loop, or while earlier batches run, goes
 * together. Under load the batches grow by themselves; a question that comes alone does not wait.
 *
 * A batch that fails is asked again one by one, so that one bad item spoils nothing for its neighbours. It must
 * therefore write nothing when it fails: one statement, or one transaction. Of a database that answers nobody nothing is
 * asked again: that would take as long once more, and as long again for those that wait.
 * @param ask gives a result for each item, in their order.
 */
export function gather<Item, Result>(
  ask: (items: readonly Item[]) => Promise<readonly Result[]>,
  { most, atOnce, leastBeside = 1 }: GatherOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let isPlanned = false;

  const askFor = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await ask(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      if (isSilent(error)) for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
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

type Asked<Result> = { running: number; next: PromiseWithResolvers<Result> | undefined };

/**
 * Makes one question of those who ask for the same: who asks in the same turn of the event loop, or while as many are on their way as
 * may be, shares the next one, which begins after each of them asked. Who comes alone does not wait.
 *
 * While the database answers nobody, those that wait are told so with the one that failed: to ask again would take as long once more.
 * @param options.atOnce questions for one key that are on their way together: one that takes long keeps nobody from the next.
 */
export function share<Key, Result>(
  ask: (key: Key) => Promise<Result>,
  { atOnce }: { atOnce: number },
): (key: Key) => Promise<Result> {
  const asked = new Map<Key, Asked<Result>>();

  const begin = (key: Key, of: Asked<Result>): void => {
    if (!of.next || of.running >= atOnce) return;
    const { resolve, reject } = of.next;
    of.next = undefined;
    of.running += 1;
    const fail = (error: unknown): void => {
      reject(error);
      if (!isSilent(error)) return;
      of.next?.reject(error);
      of.next = undefined;
    };
    void ask(key)
      .then(resolve, fail)
      .finally(() => {
        of.running -= 1;
        if (of.next) begin(key, of);
        else if (of.running === 0) asked.delete(key);
      });
  };

  return (key) => {
    const of = asked.get(key) ?? { running: 0, next: undefined };
    asked.set(key, of);
    if (!of.next) {
      of.next = Promise.withResolvers();
      setImmediate(() => begin(key, of));
    }
    return of.next.promise;
  };
}

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

/** So much is done in one turn: as much as takes a few ms for each character of a text. */
export const turnSize = 262_144;

/**
 * Items one after the other, with a turn of the event loop for everybody else whenever those since the last one come to
 * `turnSize`.
 */
export async function* inTurns<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
): AsyncGenerator<Item> {
  let size = 0;
  for (const item of items) {
    yield item;
    size += sizeOf(item);
    if (size < turnSize) continue;
    await nextTurn();
    size = 0;
  }
}

/** What becomes of each item, in turns as `inTurns` takes them: in one, where they are small. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  map: (item: Item) => Result,
): Promise<Result[]> {
  let size = 0;
  for (const item of items) size += sizeOf(item);
  if (size < turnSize) return items.map(map);
  const results: Result[] = [];
  for await (const item of inTurns(items, sizeOf)) results.push(map(item));
  return results;
}

/** Waits for work until the signal, and no longer: what is under way then ends by itself. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    // One signal may stay for all that a program does.
    signal.removeEventListener('abort', end);
  }
}

/**
 * How long the connections in use have to hear, with their next answer, that it is the last: half a second in which nobody
 * asks, in moments in each of which the loop reads what has come. On a machine too busy to let us read, they are as much longer. While
 * anybody asks or is being answered nothing is gained by closing those that wait: their clients may be slow to ask again, or have
 * several connections of which they take any. Each request leaves one less, so this ends.
 */
const lastAnswers = { moments: 25, ms: 20 };
/** More turns than connections wait at once, so that a flood of new ones does not hold up the end. */
const acceptTurns = 1_000;
/** A turn in which there is nothing to do takes a few microseconds. */
const shortTurnMs = 0.1;

/**
 * What ends a server without breaking off a request that a client has begun, in the order that leaves no gap: first no
 * new connections, then the next answer on each is its last, and those without a request are closed when there was
 * time for one. To be called before the server listens, or is handed connections by whoever listens for it.
 * @returns resolves when all is closed, and cuts off what takes longer than it is given, in milliseconds.
 */
export function closeInOrder(server: Server): (graceMs: number) => Promise<void> {
  const http = server.server;
  const sockets = new Set<Socket>();
  let isLast = false;
  const answering = { count: 0, asked: 0 };
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  http.prependListener('request', (_request, response) => {
    answering.count += 1;
    answering.asked += 1;
    response.once('close', () => (answering.count -= 1));
    if (isLast) response.setHeader('Connection', 'close');
  });
  return async (graceMs) => {
    await acceptWaiting(http);
    // Not HTTP's own close: it ends the connections that are idle now, on which a client may be sending already.
    NetServer.prototype.close.call(http);
    // Not the event of the server either: it knows only the connections that it has accepted itself.
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
      const { asked } = answering;
      await sleep(lastAnswers.ms);
      if (answering.count > 0 || answering.asked > asked) quiet = 0;
    }
    http.closeIdleConnections();
    // Browsers connect ahead of need. To Node these are not idle, and it would wait for their first request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await closed;
    clearTimeout(forced);
    await server.close();
  };
}

/**
 * Closing the listening socket resets the connections that the system has accepted and we have not yet; Node takes one
 * in each turn of its loop. So we turn until none comes in a turn that is short, and the caller closes in the same
 * turn: what connects in between is reset, and that is the time of one short turn.
 */
export async function acceptWaiting(server: NetServer): Promise<void> {
  let hasCome = false;
  const note = (): void => {
    hasCome = true;
  };
  server.on('connection', note);
  await nextTurn();
  for (let turn = 0; turn < acceptTurns; turn += 1) {
    hasCome = false;
    const began = performance.now();
    await nextTurn();
    if (!hasCome && performance.now() - began < shortTurnMs) break;
  }
  server.off('connection', note);
}
