import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { ConnectionListener } from './connection-listener.ts';
import type { WebProcess } from './web-process.ts';

/** Supervises the web processes of a service and keeps their number constant. */
export type Supervisor = {
  /** Starts all web processes. If one fails, stops the others. @throws WebProcessError with the reason. */
  start(): Promise<void>;
  /**
   * Replaces the web processes one by one: each new one serves before the old one finishes its requests. If a
   * new one cannot start, the remaining old ones stay. A call during a restart starts another one after it.
   * @returns whether all are new. It never rejects.
   */
  restart(): Promise<boolean>;
  /** Returns the reports of the serving processes. Processes that do not answer are left out. */
  survey(): Promise<unknown[]>;
  /** Announces the shutdown, waits `noticeMs` so that health checks notice, and then ends all processes. */
  stop(noticeMs: number): Promise<void>;
};

type SupervisorOptions = {
  size: number;
  launch: (number: number) => WebProcess;
  door: ConnectionListener;
  log: Log;
  /** How long a process may take to finish its requests before it is killed. */
  endMs: number;
};

/** Pauses before replacing a process that lived for less than this, or whose replacement failed. */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;

type State = SupervisorOptions & {
  /** The serving processes by number. Only these are replaced if they end. */
  serving: Map<number, WebProcess>;
  /** All running processes, including those that are starting or ending. */
  alive: Set<WebProcess>;
  stopping: AbortController;
};

export function openSupervisor(options: SupervisorOptions): Supervisor {
  const state: State = { ...options, serving: new Map(), alive: new Set(), stopping: new AbortController() };
  const { door, size } = state;
  // A primary that exits early cannot wait for its processes. (If it is killed, they end in order.)
  process.on('exit', () => state.alive.forEach((each) => each.kill()));
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  let restarting: Promise<boolean> = Promise.resolve(true);

  const stop = async (noticeMs: number): Promise<void> => {
    state.stopping.abort();
    state.serving.clear();
    for (const each of state.alive) each.send({ kind: 'stopping' });
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

/** Starts a process and lets it serve. @throws WebProcessError if it cannot start. */
async function begin(state: State, number: number): Promise<void> {
  const started = state.launch(number);
  state.alive.add(started);
  void watch(state, started);
  await started.ready;
  if (state.stopping.signal.aborted) return;
  state.serving.set(number, started);
  state.door.admit(started);
  state.log.info({ process: number, pid: started.pid }, 'a web process is serving');
}

/** Replaces a serving process that ends. */
async function watch(state: State, watched: WebProcess): Promise<void> {
  const { number, ended } = watched;
  const began = performance.now();
  void watched.leaving.then(() => state.door.dismiss(watched));
  const how = await ended;
  state.alive.delete(watched);
  state.door.dismiss(watched);
  if (state.serving.get(number) !== watched) return;
  state.serving.delete(number);
  state.log.error({ process: number, how }, 'a process ended unexpectedly; replacing it');
  await replace(state, number, performance.now() - began < shortestPauseMs ? shortestPauseMs : 0);
}

/** Retries until a replacement serves. The pauses grow, because the cause may persist. */
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
      // Ended by a stop, which is not a failure.
      if (signal.aborted) return;
      state.log.error(
        { process: number, reason: reasonOf(error) },
        'could not replace a web process; retrying',
      );
    }
    pauseMs = Math.min(Math.max(pauseMs * 2, shortestPauseMs), longestPauseMs);
  }
}

async function renewAll(state: State, numbers: readonly number[]): Promise<boolean> {
  for (const number of numbers) {
    const old = state.serving.get(number);
    // A lost process is already being replaced by a new one.
    if (!old) continue;
    if (!(await renew(state, old))) return false;
  }
  return !state.stopping.signal.aborted;
}

/** @returns whether a new process serves in its place and the old one has ended. */
async function renew(state: State, old: WebProcess): Promise<boolean> {
  const { number } = old;
  state.serving.delete(number);
  try {
    await begin(state, number);
  } catch (error) {
    if (state.stopping.signal.aborted) return false;
    state.log.error(
      { process: number, reason: reasonOf(error) },
      'restart aborted: a web process did not start',
    );
    if (state.alive.has(old)) state.serving.set(number, old);
    else void replace(state, number, shortestPauseMs);
    return false;
  }
  state.door.dismiss(old);
  await old.end(state.endMs);
  return true;
}

/** Ends all processes, including those that started in the meantime. */
async function endAll({ alive, endMs }: State): Promise<void> {
  await Promise.all([...alive].map((each) => each.end(endMs)));
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
