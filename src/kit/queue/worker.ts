import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../clock.ts';
import { type Database, isUnavailableError } from '../database.ts';
import { toLoggedError } from '../errors.ts';
import { type Log, runInTrace } from '../log.ts';
import {
  type getTracePayload,
  type Job,
  type JobHandler,
  LaneNarrowed,
  LeaseLost,
  rescheduleJob,
} from '../queue.ts';
import { type JobListener, listenForJobs, openAnnouncer } from './announcer.ts';
import {
  type ClaimedJob,
  claimDueJobs,
  findNextClaimDelay,
  type JobClaimOptions,
  keepLeases,
  openClaimWindow,
  pollMs,
} from './claim.ts';
import { type LaneWidth, openLanes } from './lanes.ts';
import { type OnParked, parkAfterLostClaims, parkJob, suspectAfterLostClaims } from './park-job.ts';

/** Returns the delay after failures of the handler, in seconds: 1, 2, 4, ... and hourly from the 13th on. */
export const backoffSeconds = (failures: number): number => Math.min(2 ** Math.max(failures - 1, 0), 3_600);

/**
 * Reschedules a failed job with a growing delay, so that a job that always fails costs little and blocks no
 * others. If the database is unavailable, that is not a failure of the job.
 */
async function rescheduleFailed(database: Database, log: Log, job: Job, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) {
    log.warn(about(job), 'the lease of a job was lost; its result was discarded');
    return;
  }
  const failures = job.failures + (isUnavailableError(error) ? 0 : 1);
  const delay = backoffSeconds(failures);
  const level = isUnavailableError(error) ? 'debug' : 'error';
  log[level]({ ...about(job), failures, delay, ...toLoggedError(error) }, 'a job failed; it will be retried');
  // If parking failed, the next claim parks the job.
  const lostClaims = job.lostClaims >= parkAfterLostClaims ? job.lostClaims : 0;
  await reschedule(database, log, job, { delay, failures, lostClaims });
}

/** Returns a job that this process abandons on shutdown, so that another process can claim it immediately. */
const rescheduleUnfinished = (database: Database, log: Log, job: Job): Promise<void> =>
  reschedule(database, log, job, { delay: 0, failures: job.failures, lostClaims: job.lostClaims });

/** Reschedules a job. If that fails, the job runs again when its lease ends. */
async function reschedule(
  database: Database,
  log: Log,
  job: Job,
  when: { delay: number; failures: number; lostClaims?: number },
): Promise<void> {
  try {
    await rescheduleJob(database, job, when);
  } catch (error) {
    log.debug(
      { ...about(job), ...toLoggedError(error) },
      'could not reschedule a job; it will be retried when its lease expires',
    );
  }
}

const about = ({ kind, id, workspaceId }: Job): { kind: string; job: string; workspace: string } => ({
  kind,
  job: id,
  workspace: workspaceId,
});

/** Wakes a sleeping loop early. A ring while no loop sleeps is remembered, so none is lost. */
type WakeSignal = {
  ring: () => void;
  /**
   * Returns at the next ring, immediately if it rang since the last sleep, or after a time in milliseconds.
   * Only one caller may sleep at a time.
   * @param howLong is called only if it has not rung.
   */
  sleep(howLong: () => Promise<number> | number): Promise<void>;
};

export function openWakeSignal(): WakeSignal {
  let rang = false;
  let wakeUp = (): void => {};
  return {
    ring() {
      rang = true;
      wakeUp();
    },
    async sleep(howLong) {
      const ms = rang ? 0 : await howLong();
      if (!rang) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rang = false;
    },
  };
}

/** The handler, failure callback and concurrency limit per lane of each kind of job. */
export type Handlers = Readonly<
  Record<string, { readonly run: JobHandler; readonly onParked?: OnParked } & Readonly<LaneWidth>>
>;

type QueueOptions = {
  database: Database;
  log: Log;
  handlers: Handlers;
  /** The number of job slots in this process. Default: 256. It holds at most twice as many jobs. */
  concurrency?: number;
  /**
   * The lease of a claimed job, in seconds. It is renewed while the process lives. After the process dies, no
   * other process can take over its jobs for this time (30 s at most, docs/rules.md F2).
   */
  leaseSeconds?: number;
};

export type Queue = {
  /** Reports new jobs. Call it after the commit. This process looks immediately, others within 20 ms. */
  wake(): void;
  /**
   * Stops claiming, lets running jobs finish for `graceMs` (8,000), then aborts the rest and returns their
   * leases, so that another process takes over immediately.
   */
  stop(options?: { graceMs?: number }): Promise<void>;
};

/** Held jobs per slot: those that run, prepare, wait for a slot, and are settled. */
const claimedPerSlot = 2;
/** Claims wait until this share is free, so that each claims many jobs. */
const claimedShare = 1 / 4;
/** A settled job may soon be due again. This delays the check, so that one check serves many jobs. */
const recheckMs = 50;
/** How long aborted handlers may take before their leases are returned. */
const abortMs = 500;
/** The longest that a shutdown waits for an unavailable database. */
const shutdownReturnMs = 1_000;

type Running = ClaimedJob & { done: Promise<void> };

type State = Omit<Required<QueueOptions>, 'concurrency'> &
  JobClaimOptions & {
    maxClaimed: number;
    bell: WakeSignal;
    listener: JobListener;
    /** The running jobs, by lease token. */
    running: Map<string, Running>;
    lookAgain: NodeJS.Timeout | undefined;
    phase: 'working' | 'finishing' | 'aborting';
  };

/**
 * Runs jobs of the given kinds until stopped. Other kinds are left to other processes. While the database is
 * unavailable it waits, and then continues.
 */
export function startQueue({ concurrency = 256, leaseSeconds = 25, ...options }: QueueOptions): Queue {
  const bell = openWakeSignal();
  const name = newId();
  const notify = (sender: string): void => {
    if (sender !== name) bell.ring();
  };
  const listener = listenForJobs(options.database, { log: options.log, notify });
  const state: State = {
    ...options,
    leaseSeconds,
    kinds: Object.keys(options.handlers),
    caps: Object.values(options.handlers).map(({ perLane }) => perLane),
    bell,
    listener,
    lanes: openLanes({ places: concurrency, onOpen: () => bell.ring() }),
    lookBack: openClaimWindow(),
    maxClaimed: concurrency * claimedPerSlot,
    running: new Map(),
    hasSuspect: () => state.running.values().some(({ job }) => isSuspect(job)),
    outage: { seenAt: Number.NEGATIVE_INFINITY },
    lookAgain: undefined,
    phase: 'working',
  };
  const { database, log } = state;
  const working = work(state);
  const leases = keepLeases({ database, log, leaseSeconds, jobs: () => state.running.values() });
  const announcer = openAnnouncer(state, name);

  return {
    wake() {
      bell.ring();
      announcer.announce();
    },
    async stop({ graceMs = 8_000 } = {}) {
      state.phase = 'finishing';
      bell.ring();
      const unlistened = listener.stop();
      await atMost(
        graceMs,
        working.then(() => allDone(state)),
      );
      await atMost(shutdownReturnMs, returnUnfinishedJobs(state, working));
      await atMost(shutdownReturnMs, Promise.all([announcer.stop(), unlistened, leases.stop()]));
    },
  };
}

/** Claims and starts jobs, and sleeps when there is nothing to claim. */
async function work(state: State): Promise<void> {
  const { bell, listener, log } = state;
  let failures = 0;
  while (state.phase === 'working') {
    try {
      const free = freeOf(state);
      const claimedAt = performance.now();
      const claimed = free > 0 ? await claimDueJobs(state, free) : [];
      await startAll(state, claimed, claimedAt);
      if (claimed.length === 0)
        await bell.sleep(() => (free > 0 ? findNextClaimDelay(state, listener.isListening()) : pollMs));
      failures = 0;
    } catch (error) {
      // The first failure is not logged: on a busy machine, connecting can be slow.
      failures += 1;
      if (failures === 2) log.warn(toLoggedError(error), 'the queue cannot read its jobs; retrying');
      await bell.sleep(() => pollMs);
    }
  }
}

/** Returns how many more jobs can be claimed, or 0 if too few to claim now. */
function freeOf({ maxClaimed, running }: State): number {
  const free = maxClaimed - running.size;
  return free >= maxClaimed * claimedShare ? free : 0;
}

const isSuspect = ({ lostClaims }: Job): boolean => lostClaims >= suspectAfterLostClaims;

/** Starts claimed jobs, or returns them if the queue has stopped in the meantime. */
async function startAll(state: State, jobs: readonly Job[], claimedAt: number): Promise<void> {
  if (state.phase === 'aborting') await rescheduleAll(state, jobs);
  else for (const job of jobs) start(state, job, claimedAt + state.leaseSeconds * 1_000);
}

function start(state: State, job: Job, leasedUntil: number): void {
  const abort = new AbortController();
  const done = run(state, job, abort.signal).finally(() => {
    const wasFull = freeOf(state) === 0;
    state.running.delete(job.leaseToken);
    // The next suspect job has been due for some time, and claims skipped it.
    if (isSuspect(job)) state.lookBack.forget();
    if (wasFull && freeOf(state) > 0) state.bell.ring();
    state.lookAgain ??= setTimeout(() => {
      state.lookAgain = undefined;
      state.bell.ring();
    }, recheckMs).unref();
  });
  state.running.set(job.leaseToken, { job, abort, leasedUntil, done });
}

/** Runs the handler of a job. Never rejects. */
async function run(state: State, job: Job, signal: AbortSignal): Promise<void> {
  const { run: handle, onParked, ...width } = state.handlers[job.kind]!;
  const turn = state.lanes.lineUp(job.lane, width, signal);
  try {
    if (job.lostClaims >= parkAfterLostClaims) {
      await parkJob(state.database, state.log, job, onParked);
      return;
    }
    if (width.ahead === undefined) await turn.enter();
    const { traceparent } = job.payload as ReturnType<typeof getTracePayload>;
    await runInTrace(traceparent, () => handle(job, signal, turn));
  } catch (error) {
    if (state.phase === 'aborting' || error instanceof LaneNarrowed) await rescheduleAll(state, [job]);
    else await rescheduleFailed(state.database, state.log, job, error);
  } finally {
    turn.leave();
  }
}

/** Aborts running jobs and returns them to other processes. */
async function returnUnfinishedJobs(state: State, working: Promise<void>): Promise<void> {
  state.phase = 'aborting';
  for (const { abort } of state.running.values()) abort.abort(new Error('The process is stopping.'));
  await atMost(abortMs, Promise.all([working, allDone(state)]));
  await rescheduleAll(
    state,
    [...state.running.values()].map(({ job }) => job),
  );
}

const allDone = ({ running }: State): Promise<unknown> =>
  Promise.all([...running.values()].map(({ done }) => done));

const rescheduleAll = ({ database, log }: State, jobs: readonly Job[]): Promise<unknown> =>
  Promise.all(jobs.map((job) => rescheduleUnfinished(database, log, job)));

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, undefined, { signal: over.signal }).catch(() => {})]);
  } finally {
    over.abort();
  }
}
