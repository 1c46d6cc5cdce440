import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../clock.ts';
import type { Database } from '../database.ts';
import type { Log } from '../log.ts';
import { type Job, type JobHandler, jobsChannel, LeaseLost } from '../queue.ts';
import { openAnnouncer } from './announcer.ts';
import { type Bell, openBell } from './bell.ts';
import { type Lanes, openLanes, type Pace, type Width } from './lanes.ts';
import { listen } from './listen.ts';
import { putBackFailed, putBackUnfinished } from './put-back.ts';
import { claimJobs, findNextDue } from './queries.ts';

/** What a kind of job is done by, and how many of one lane may run at once in a process. */
export type Handlers = Readonly<Record<string, { readonly run: JobHandler } & Readonly<Width>>>;

export type QueueOptions = {
  database: Database;
  log: Log;
  handlers: Handlers;
  /** Jobs that run at once in this process. */
  concurrency?: number;
  /**
   * How long a claimed job belongs to this process, in seconds: longer than any handler takes, and shorter than
   * the 30 s within which another process takes over from a dead one (reliability F2).
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

/** The longest sleep: when every notification is lost, new work is found this much later. */
const pollMs = 1_000;
/** A due job that could not be claimed is locked by somebody else for a moment. */
const retryClaimMs = 20;
/** A longer run narrows its lane: half the time that a webhook's receiver has. */
const slowMs = 5_000;
/** A shorter one widens it. */
const quickMs = 1_000;
/** How long aborted handlers have to give up, before their leases are taken from them. */
const abortMs = 500;
/** The end of the process does not wait longer than this for a database that is away. */
const giveBackMs = 1_000;

type Running = { job: Job; abort: AbortController; done: Promise<void> };

type State = Required<QueueOptions> & {
  kinds: string[];
  caps: number[];
  bell: Bell;
  lanes: Lanes;
  /** By lease token. */
  running: Map<string, Running>;
  phase: 'working' | 'finishing' | 'aborting';
};

/**
 * Runs the jobs of the given kinds until it is stopped; jobs of other kinds are left to processes that know them.
 * While the database is away it waits, and goes on by itself.
 */
export function startQueue({ concurrency = 128, leaseSeconds = 25, ...options }: QueueOptions): Queue {
  const state: State = {
    ...options,
    concurrency,
    leaseSeconds,
    kinds: Object.keys(options.handlers),
    caps: Object.values(options.handlers).map(({ perLane }) => perLane),
    bell: openBell(),
    lanes: openLanes(),
    running: new Map(),
    phase: 'working',
  };
  const { database, log, bell } = state;
  const name = newId();
  const listening = new AbortController();
  const hear = (sender: string): void => {
    if (sender !== name) bell.ring();
  };
  const working = work(state);
  const heard = listen(database, jobsChannel, hear, { log, signal: listening.signal });
  const announcer = openAnnouncer(state, name);

  return {
    wake() {
      bell.ring();
      announcer.announce();
    },
    async stop({ graceMs = 8_000 } = {}) {
      state.phase = 'finishing';
      bell.ring();
      listening.abort();
      await atMost(
        graceMs,
        working.then(() => allDone(state)),
      );
      await atMost(giveBackMs, giveBack(state, working));
      await atMost(giveBackMs, Promise.all([announcer.stop(), heard]));
    },
  };
}

/** Claims and starts jobs, and sleeps when there is nothing to claim. */
async function work(state: State): Promise<void> {
  const { bell, log } = state;
  let isAway = false;
  while (state.phase === 'working') {
    try {
      const claimed = await claim(state);
      await startAll(state, claimed);
      if (claimed.length === 0) await bell.sleep(() => idleTime(state));
      isAway = false;
    } catch (error) {
      if (!isAway) log.warn({ err: error }, 'the queue cannot reach its jobs and keeps trying');
      isAway = true;
      await bell.sleep(() => pollMs);
    }
  }
}

/**
 * The jobs to start now.
 *
 * Measured on two cores: a healthy job behind 10,000 due jobs of a dead lane is claimed in 2 to 4 ms, behind
 * 100,000 in 17 ms; without any in front, 10,000 jobs of 20 lanes run in 1.7 s.
 */
async function claim(state: State): Promise<Job[]> {
  const { database, kinds, caps, lanes, concurrency, running, leaseSeconds } = state;
  const free = concurrency - running.size;
  if (free <= 0) return [];
  const { names, rooms } = lanes.rooms();
  const rows = await claimJobs(database, {
    kinds,
    caps,
    closed_lanes: lanes.closed(),
    open_lanes: names,
    rooms,
    limit: free,
    lease_seconds: leaseSeconds,
  });
  // Only while places are scarce: a round costs one claim that finds nothing.
  if (rows.length === free) lanes.served(new Set(rows.map(({ lane }) => lane)));
  else if (rows.length === 0 && lanes.newRound()) return claim(state);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    payload: row.payload,
    leaseToken: row.lease_token,
    failures: row.failures,
  }));
}

/** How long nothing can be claimed, in milliseconds, unless the bell rings: for a new job or for a finished one. */
async function idleTime({ database, kinds, lanes, concurrency, running }: State): Promise<number> {
  if (running.size >= concurrency) return pollMs;
  const [next] = await findNextDue(database, { kinds, closed_lanes: lanes.closed() });
  if (next?.seconds == null) return pollMs;
  return Math.min(Math.max(next.seconds * 1_000, retryClaimMs), pollMs);
}

/** Starts what was claimed, or puts it back when the queue has ended meanwhile. */
async function startAll(state: State, jobs: readonly Job[]): Promise<void> {
  if (state.phase === 'aborting') await putBackAll(state, jobs);
  else for (const job of jobs) start(state, job);
}

function start(state: State, job: Job): void {
  const abort = new AbortController();
  state.lanes.begin(job.lane, state.handlers[job.kind]!);
  const done = run(state, job, abort).finally(() => {
    state.running.delete(job.leaseToken);
    state.bell.ring();
  });
  state.running.set(job.leaseToken, { job, abort, done });
}

/** Runs the handler of one job. Never rejects. */
async function run(state: State, job: Job, abort: AbortController): Promise<void> {
  const leaveLane = laneLeaver(state, job);
  const leaseEnd = setTimeout(() => abort.abort(new LeaseLost(job)), state.leaseSeconds * 1_000);
  try {
    await state.handlers[job.kind]!.run(job, abort.signal, leaveLane);
  } catch (error) {
    if (state.phase === 'aborting') await putBackAll(state, [job]);
    else await putBackFailed(state.database, state.log, job, error);
  } finally {
    clearTimeout(leaseEnd);
    leaveLane();
  }
}

/** Leaves the lane of a job that begins now; asked again, it does nothing. */
function laneLeaver({ lanes, bell }: State, { lane }: Job): () => void {
  const began = performance.now();
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    lanes.end(lane, paceOf(performance.now() - began));
    bell.ring();
  };
}

const paceOf = (ms: number): Pace => (ms > slowMs ? 'slow' : ms > quickMs ? 'usual' : 'quick');

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
