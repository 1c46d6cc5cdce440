import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../clock.ts';
import { type Database, isUnavailable } from '../database.ts';
import { loggedError } from '../errors.ts';
import { type Log, runInTrace } from '../log.ts';
import {
  type Job,
  type JobHandler,
  LaneNarrowed,
  LeaseLost,
  rescheduleJob,
  type tracedPayload,
} from '../queue.ts';
import { type Hearing, hearJobs, openAnnouncer } from './announcer.ts';
import { type Claims, claim, type Held, idleTime, keepLeases, openLookBack, pollMs } from './claim.ts';
import { openLanes, type Width } from './lanes.ts';
import { type OnParked, parkAfter, parkJob, suspectAfter } from './park-job.ts';

/** Seconds until a job runs again whose handler threw: 1, 2, 4, ... and from the 13th time on hourly. */
export const backoffSeconds = (failures: number): number => Math.min(2 ** Math.max(failures - 1, 0), 3_600);

/**
 * Puts a job back whose handler threw, with a growing delay: a job that can never succeed costs little and blocks
 * nobody. A database that is away says nothing about the job, so that counts as no failure.
 */
async function putBackFailed(database: Database, log: Log, job: Job, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) {
    log.warn(about(job), 'the lease of a job was lost; what it would have written was dropped');
    return;
  }
  const failures = job.failures + (isUnavailable(error) ? 0 : 1);
  const delay = backoffSeconds(failures);
  const level = isUnavailable(error) ? 'debug' : 'error';
  log[level](
    { ...about(job), failures, delay, ...loggedError(error) },
    'a job failed and will be tried again',
  );
  // Where parking it failed, it is parked next time.
  const lostClaims = job.lostClaims >= parkAfter ? job.lostClaims : 0;
  await reschedule(database, log, job, { delay, failures, lostClaims });
}

/** Puts a job back that this process gives up because it stops: another one takes it over at once. */
const putBackUnfinished = (database: Database, log: Log, job: Job): Promise<void> =>
  reschedule(database, log, job, { delay: 0, failures: job.failures, lostClaims: job.lostClaims });

/** When it cannot be written, the end of the lease does the same, only later. */
async function reschedule(
  database: Database,
  log: Log,
  job: Job,
  when: { delay: number; failures: number; lostClaims?: number },
): Promise<void> {
  try {
    await rescheduleJob(database, job, when);
  } catch (error) {
    log.debug({ ...about(job), ...loggedError(error) }, 'a job waits for the end of its lease');
  }
}

const about = ({ kind, id, workspaceId }: Job): { kind: string; job: string; workspace: string } => ({
  kind,
  job: id,
  workspace: workspaceId,
});

/** A loop sleeps on it and is woken early. A ring while nobody sleeps is kept, so none is lost in between. */
type Bell = {
  ring: () => void;
  /**
   * Returns at the next ring, at once when it rang since the last sleep, or after a time in milliseconds.
   * One sleeper at a time.
   * @param howLong is asked only when it has not rung.
   */
  sleep(howLong: () => Promise<number> | number): Promise<void>;
};

export function openBell(): Bell {
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

/** What a kind of job is done by, what marks it as failed, and how many of one lane may run at once in a process. */
export type Handlers = Readonly<
  Record<string, { readonly run: JobHandler; readonly onParked?: OnParked } & Readonly<Width>>
>;

type QueueOptions = {
  database: Database;
  log: Log;
  handlers: Handlers;
  /** Jobs that are inside of their lanes at once in this process (256). Twice as many are held at most. */
  concurrency?: number;
  /**
   * How long a claimed job belongs to this process, in seconds. It is renewed while the process lives: so long, and no
   * longer, does nobody take over from a dead one (30 s at most, docs/rules.md F2).
   */
  leaseSeconds?: number;
};

export type Queue = {
  /** There are new jobs: call it after the commit. This process looks at once, the others within 20 ms. */
  wake(): void;
  /**
   * Claims nothing more, lets what runs finish for `graceMs` (8,000), aborts the rest and gives their leases back,
   * so that another process takes over at once.
   */
  stop(options?: { graceMs?: number }): Promise<void>;
};

/** Held in all, for each that is inside: those that get ready, wait for their turn, and are written down. */
const heldPerPlace = 2;
/** Claims wait until so much of it is free: they come by the many. */
const claimedShare = 1 / 4;
/** What has ended may be due again before the next look: it is looked for so much later, for many at once. */
const lookAgainMs = 50;
/** How long aborted handlers have to give up, before their leases are taken from them. */
const abortMs = 500;
/** The end of the process does not wait longer than this for a database that is away. */
const giveBackMs = 1_000;

type Running = Held & { done: Promise<void> };

type State = Omit<Required<QueueOptions>, 'concurrency'> &
  Claims & {
    mostHeld: number;
    bell: Bell;
    heard: Hearing;
    /** By lease token. */
    running: Map<string, Running>;
    lookAgain: NodeJS.Timeout | undefined;
    phase: 'working' | 'finishing' | 'aborting';
  };

/**
 * Runs the jobs of the given kinds until it is stopped; jobs of other kinds are left to processes that know them.
 * While the database is away it waits, and goes on by itself.
 */
export function startQueue({ concurrency = 256, leaseSeconds = 25, ...options }: QueueOptions): Queue {
  const bell = openBell();
  const name = newId();
  const hear = (sender: string): void => {
    if (sender !== name) bell.ring();
  };
  const heard = hearJobs(options.database, { log: options.log, hear });
  const state: State = {
    ...options,
    leaseSeconds,
    kinds: Object.keys(options.handlers),
    caps: Object.values(options.handlers).map(({ perLane }) => perLane),
    bell,
    heard,
    lanes: openLanes({ places: concurrency, onOpen: () => bell.ring() }),
    lookBack: openLookBack(),
    mostHeld: concurrency * heldPerPlace,
    running: new Map(),
    hasSuspect: () => state.running.values().some(({ job }) => isSuspect(job)),
    outage: { seenAt: Number.NEGATIVE_INFINITY },
    lookAgain: undefined,
    phase: 'working',
  };
  const { database, log } = state;
  const working = work(state);
  const leases = keepLeases({ database, log, leaseSeconds, held: () => state.running.values() });
  const announcer = openAnnouncer(state, name);

  return {
    wake() {
      bell.ring();
      announcer.announce();
    },
    async stop({ graceMs = 8_000 } = {}) {
      state.phase = 'finishing';
      bell.ring();
      const unheard = heard.stop();
      await atMost(
        graceMs,
        working.then(() => allDone(state)),
      );
      await atMost(giveBackMs, giveBack(state, working));
      await atMost(giveBackMs, Promise.all([announcer.stop(), unheard, leases.stop()]));
    },
  };
}

/** Claims and starts jobs, and sleeps when there is nothing to claim. */
async function work(state: State): Promise<void> {
  const { bell, heard, log } = state;
  let failures = 0;
  while (state.phase === 'working') {
    try {
      const free = freeOf(state);
      const asked = performance.now();
      const claimed = free > 0 ? await claim(state, free) : [];
      await startAll(state, claimed, asked);
      if (claimed.length === 0)
        await bell.sleep(() => (free > 0 ? idleTime(state, heard.isListening()) : pollMs));
      failures = 0;
    } catch (error) {
      // Not the first: on a busy machine a connection may come late.
      failures += 1;
      if (failures === 2) log.warn(loggedError(error), 'the queue cannot reach its jobs and keeps trying');
      await bell.sleep(() => pollMs);
    }
  }
}

/** How many more can be held; none while claiming is not worth while. */
function freeOf({ mostHeld, running }: State): number {
  const free = mostHeld - running.size;
  return free >= mostHeld * claimedShare ? free : 0;
}

const isSuspect = ({ lostClaims }: Job): boolean => lostClaims >= suspectAfter;

/** Starts what was claimed, or puts it back when the queue has ended meanwhile. */
async function startAll(state: State, jobs: readonly Job[], asked: number): Promise<void> {
  if (state.phase === 'aborting') await putBackAll(state, jobs);
  else for (const job of jobs) start(state, job, asked + state.leaseSeconds * 1_000);
}

function start(state: State, job: Job, leasedUntil: number): void {
  const abort = new AbortController();
  const done = run(state, job, abort.signal).finally(() => {
    const wasFull = freeOf(state) === 0;
    state.running.delete(job.leaseToken);
    // The next one has been due for long, and was left out of the claims.
    if (isSuspect(job)) state.lookBack.forget();
    if (wasFull && freeOf(state) > 0) state.bell.ring();
    state.lookAgain ??= setTimeout(() => {
      state.lookAgain = undefined;
      state.bell.ring();
    }, lookAgainMs).unref();
  });
  state.running.set(job.leaseToken, { job, abort, leasedUntil, done });
}

/** Runs the handler of one job. Never rejects. */
async function run(state: State, job: Job, signal: AbortSignal): Promise<void> {
  const { run: handle, onParked, ...width } = state.handlers[job.kind]!;
  const turn = state.lanes.lineUp(job.lane, width, signal);
  try {
    if (job.lostClaims >= parkAfter) {
      await parkJob(state.database, state.log, job, onParked);
      return;
    }
    if (width.ahead === undefined) await turn.enter();
    const { traceparent } = job.payload as ReturnType<typeof tracedPayload>;
    await runInTrace(traceparent, () => handle(job, signal, turn));
  } catch (error) {
    if (state.phase === 'aborting' || error instanceof LaneNarrowed) await putBackAll(state, [job]);
    else await putBackFailed(state.database, state.log, job, error);
  } finally {
    turn.leave();
  }
}

/** Aborts what still runs and gives it to other processes. */
async function giveBack(state: State, working: Promise<void>): Promise<void> {
  state.phase = 'aborting';
  for (const { abort } of state.running.values()) abort.abort(new Error('The process stops.'));
  await atMost(abortMs, Promise.all([working, allDone(state)]));
  await putBackAll(
    state,
    [...state.running.values()].map(({ job }) => job),
  );
}

const allDone = ({ running }: State): Promise<unknown> =>
  Promise.all([...running.values()].map(({ done }) => done));

const putBackAll = ({ database, log }: State, jobs: readonly Job[]): Promise<unknown> =>
  Promise.all(jobs.map((job) => putBackUnfinished(database, log, job)));

/** Waits for `work`, but no longer than `ms`. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, undefined, { signal: over.signal }).catch(() => {})]);
  } finally {
    over.abort();
  }
}
