import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Door } from './door.ts';
import type { WebProcess } from './web-process.ts';

/** The web processes of a service, and the keeping of their number. */
export type Crew = {
  /** Starts all of them. @throws WebProcessError why one of them could not; then none is left. */
  start(): Promise<void>;
  /**
   * Renews them one by one: each new one serves before the old one finishes what it has begun. When a new one cannot
   * start, the rest stay as they are. Asked during a restart, another follows.
   * @returns whether all are new. It never rejects.
   */
  restart(): Promise<boolean>;
  /** What those that serve say of themselves; who does not answer is left out. */
  survey(): Promise<unknown[]>;
  /** Tells all that the service stops, gives those who watch it `noticeMs` to hear so, then ends them. */
  stop(noticeMs: number): Promise<void>;
};

type CrewOptions = {
  size: number;
  launch: (number: number) => WebProcess;
  door: Door;
  log: Log;
  /** The longest that a process may take to finish what it has begun; then it is killed. */
  endMs: number;
};

/** Pauses before a process is replaced that did not live this long, or whose replacement did not either. */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;

type State = CrewOptions & {
  /** Those that are to serve, by number: the end of another one is no loss. */
  serving: Map<number, WebProcess>;
  /** All that run, also those that begin and end. */
  alive: Set<WebProcess>;
  stopping: AbortController;
};

export function openCrew(options: CrewOptions): Crew {
  const state: State = {
    ...options,
    serving: new Map(),
    alive: new Set(),
    stopping: new AbortController(),
  };
  const { door, size } = state;
  // A primary that does not stop in order has no time for theirs. (They end in order when it is killed.)
  process.on('exit', () => state.alive.forEach((each) => each.kill()));
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  let restarting: Promise<boolean> = Promise.resolve(true);

  const stop = async (noticeMs: number): Promise<void> => {
    state.stopping.abort();
    state.serving.clear();
    for (const each of state.alive) each.tell({ kind: 'stopping' });
    await sleep(noticeMs);
    await door.close();
    await endAll(state);
  };
  return {
    async start() {
      const begun = await Promise.allSettled(numbers.map((number) => begin(state, number)));
      const failed = begun.find((each) => each.status === 'rejected');
      if (!failed) return;
      await stop(0);
      throw failed.reason;
    },
    restart() {
      restarting = restarting.then(() => renewAll(state, numbers));
      return restarting;
    },
    async survey() {
      const answers = await Promise.all([...state.serving.values()].map((each) => each.survey()));
      return answers.filter((answer) => answer !== undefined);
    },
    stop,
  };
}

/** Starts a process and has it serve. @throws WebProcessError when it cannot. */
async function begin(state: State, number: number): Promise<void> {
  const started = state.launch(number);
  state.alive.add(started);
  void watch(state, started);
  await started.ready;
  if (state.stopping.signal.aborted) return;
  state.serving.set(number, started);
  state.door.admit(started);
  state.log.info({ process: number, pid: started.pid }, 'a process serves');
}

/** Replaces a process that ends although it is to serve. */
async function watch(state: State, watched: WebProcess): Promise<void> {
  const { number, ended } = watched;
  const began = performance.now();
  void watched.leaving.then(() => state.door.dismiss(watched));
  const how = await ended;
  state.alive.delete(watched);
  state.door.dismiss(watched);
  if (state.serving.get(number) !== watched) return;
  state.serving.delete(number);
  state.log.error({ process: number, how }, 'a process ended unexpectedly and is replaced');
  await replace(state, number, performance.now() - began < shortestPauseMs ? shortestPauseMs : 0);
}

/** Tries until a process serves in the place of one that was lost; with growing pauses, for a cause that stays. */
async function replace(state: State, number: number, firstPauseMs: number): Promise<void> {
  const { signal } = state.stopping;
  let pauseMs = firstPauseMs;
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await begin(state, number);
      return;
    } catch (error) {
      // What a stop ends did not fail.
      if (signal.aborted) return;
      state.log.error({ process: number, reason: reasonOf(error) }, 'a process could not be replaced yet');
    }
    pauseMs = Math.min(Math.max(pauseMs * 2, shortestPauseMs), longestPauseMs);
  }
}

async function renewAll(state: State, numbers: readonly number[]): Promise<boolean> {
  for (const number of numbers) {
    const old = state.serving.get(number);
    // One that was lost is being replaced, which renews it.
    if (!old) continue;
    if (!(await renew(state, old))) return false;
  }
  return !state.stopping.signal.aborted;
}

/** @returns whether another one serves in its place, and it is gone. */
async function renew(state: State, old: WebProcess): Promise<boolean> {
  const { number } = old;
  state.serving.delete(number);
  try {
    await begin(state, number);
  } catch (error) {
    if (state.stopping.signal.aborted) return false;
    state.log.error(
      { process: number, reason: reasonOf(error) },
      'a restart ended early: a process did not start',
    );
    if (state.alive.has(old)) state.serving.set(number, old);
    else void replace(state, number, shortestPauseMs);
    return false;
  }
  state.door.dismiss(old);
  await old.end(state.endMs);
  return true;
}

/** Also those that began meanwhile. */
async function endAll({ alive, endMs }: State): Promise<void> {
  await Promise.all([...alive].map((each) => each.end(endMs)));
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
