import { type Database, notifierOf, partNameOf } from './database.ts';
import { currentTrace } from './log.ts';
import { type Column, double, jsonb, only, type Queryable, statement, uuid } from './statement.ts';

/**
 * The one durable queue, on the table `jobs`: webhooks, mail, sweeps and exports are jobs of it.
 *
 * A job is enqueued in the transaction of the change that asks for it, so both happen or neither does. A worker
 * (queue/worker.ts) claims it for the length of a lease, runs the handler of its kind, and the handler settles it
 * in the transaction that writes its result. A worker that dies leaves the lease to run out, and another takes the
 * job over: every job runs at least once, and writes at most once.
 */
export type Job<Payload = unknown> = {
  readonly workspaceId: string;
  readonly id: string;
  readonly kind: string;
  /** Jobs of one lane share a cap on how many run at once. */
  readonly lane: string;
  readonly payload: Payload;
  /** Proof of the lease: without it nothing can be settled. */
  readonly leaseToken: string;
  /** How often in a row its handler threw. */
  readonly failures: number;
  /** How many claims in a row before this one ended without a result: the process died, or the lease ran out. */
  readonly lostClaims: number;
};

/**
 * The turn of a job in its lane, which has a cap on how many are inside. A job is inside from its beginning, unless its
 * kind claims ahead (queue/lane.ts): then it enters by itself, after it got ready.
 */
export type LaneTurn = {
  /**
   * Waits for a place, if the job is not inside already.
   * @throws LaneNarrowed when there will be none for long, or the reason of the job's signal. Let it pass.
   */
  enter(): Promise<void>;
  /**
   * What the lane's cap is about is over, and only the settling remains: the next job of the lane may begin. Without
   * it, that is so when the handler ends.
   */
  leave(): void;
};

/**
 * Does the work of one job, and settles it through completeJob or rescheduleJob inside its own transaction.
 * What it throws is logged, and the job comes back later; so does what it leaves unsettled, when the lease ends. The
 * lease goes on for as long as the handler runs and the database is reached.
 * @param signal aborts when the lease is lost and when the queue stops: give up and throw.
 */
export type JobHandler = (job: Job, signal: AbortSignal, turn: LaneTurn) => Promise<void>;

/** The job waits for a lane that has become slow. The worker gives it back; nothing was begun. */
export class LaneNarrowed extends Error {
  override readonly name = 'LaneNarrowed';
}

/**
 * Thrown by completeJob and rescheduleJob when the lease ran out and the job is no longer this worker's. It ends
 * the transaction, so a worker that was frozen and woke up cannot overwrite what its successor wrote.
 */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(job: Job) {
    super(`The lease of job ${job.id} (${job.kind}) ended before its result was written.`);
  }
}

/** The channel on which processes tell each other that there are new jobs. */
export const jobsChannel = 'formloom_jobs';

const jobColumns = 'jobs (workspace_id, id, kind, lane, payload, run_at, created_at)';

/** A delivery or an email that is sent again has its parked job still, under the same id: that one starts over. */
const restartIfParked = `on conflict (workspace_id, id) do update
     set payload = excluded.payload, run_at = excluded.run_at, failures = 0, lost_claims = 0, parked_at = null
   where jobs.parked_at is not null`;

/**
 * Adds jobs, as a part of a statement that writes what they are of.
 * @param source a part before it, materialized, with the columns workspace_id, id, kind, lane, payload, run_at and at.
 */
export const insertJobs = (source: string): string =>
  `insert into ${jobColumns}
   select workspace_id, id, kind, lane, payload, run_at, at from ${source} ${restartIfParked}`;

const insertJob = statement(
  'queue.enqueue_job',
  [
    'workspace_id id kind:text lane',
    { payload: jsonb<object>() /** Seconds until it is due. */, delay: double },
  ],
  '',
  `insert into ${jobColumns}
   values ($workspace_id, $id, $kind, $lane, $payload, now() + make_interval(secs => $delay), now()) ${restartIfParked}`,
);

/**
 * What is added to the payload of a job that a traced request asked for: the queue runs it in that trace, and so does
 * each of its repeats.
 */
export const tracedPayload = (): { traceparent?: string } => {
  const traceparent = currentTrace();
  return traceparent === undefined ? {} : { traceparent };
};

/** Adds one job. Call `wake` (or announceJobs) after the transaction has committed. */
export const enqueueJob: typeof insertJob = (db, job) =>
  insertJob(db, { ...job, payload: { ...job.payload, ...tracedPayload() } });

const notifyJobs = statement(
  'queue.announce_jobs',
  'payloads:texts',
  '',
  `select from unnest($payloads) as payload, pg_notify('${jobsChannel}', payload)`,
);

/** What says that there are new jobs in the cell of a pool. `sender` lets a queue recognise its own announcement. */
export const announcementOf = (database: Database, sender: string): string =>
  `${sender} ${partNameOf(database)}`;

/** Says all of it at once, over the pool of `notifierOf`. */
export const sayAnnouncements = (place: Database, payloads: string[]): Promise<unknown> =>
  notifyJobs(place, { payloads });

/**
 * Tells every process's queue of a cell that there are new jobs, after the commit. Inside the transaction it would cost:
 * PostgreSQL serialises the commits of transactions that notify.
 */
export const announceJobs = (database: Database, sender = ''): Promise<unknown> =>
  sayAnnouncements(notifierOf(database), [announcementOf(database, sender)]);

/**
 * The same with the commit, to the queues of all cells: of what is rare, and where nobody knows a queue, or in which cell a
 * transaction works.
 */
export const announceWithCommit = (db: Queryable): Promise<unknown> => notifyJobs(db, { payloads: [''] });

/**
 * Settles many jobs inside another statement, each only by whoever holds it: parts of a `with`, of which the last,
 * `settled_job`, has the workspace_id and id of those that were. A job that is not among them was another
 * worker's: nothing may be written for it.
 * @param source a from-item with the columns workspace_id, id, lease_token and run_at, when it runs again; null: it is done.
 */
export const settleJobs = (source: string): string =>
  `completed_job as (
     delete from jobs using ${source} as done
      where jobs.workspace_id = done.workspace_id and jobs.id = done.id and jobs.lease_token = done.lease_token
        and done.run_at is null
     returning jobs.workspace_id, jobs.id
   ),
   rescheduled_job as (
     update jobs
        set run_at = next.run_at, lease_token = null, failures = 0, lost_claims = 0
       from ${source} as next
      where jobs.workspace_id = next.workspace_id and jobs.id = next.id and jobs.lease_token = next.lease_token
        and next.run_at is not null
     returning jobs.workspace_id, jobs.id
   ),
   settled_job as (
     select workspace_id, id from completed_job
     union all
     select workspace_id, id from rescheduled_job
   )`;

const held = { workspace_id: uuid, id: uuid, lease_token: uuid } satisfies Record<string, Column<string>>;
const holding = (job: Job): { workspace_id: string; id: string; lease_token: string } => ({
  workspace_id: job.workspaceId,
  id: job.id,
  lease_token: job.leaseToken,
});

const deleteHeldJob = statement(
  'queue.delete_held_job',
  held,
  'id',
  `delete from jobs
    where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
   returning id`,
);

const updateHeldJob = statement(
  'queue.update_held_job',
  ['delay failures lost_claims', held],
  'id',
  `update jobs
      set run_at = now() + make_interval(secs => $delay), lease_token = null, failures = $failures,
          lost_claims = $lost_claims
    where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
   returning id`,
);

/**
 * The job is done.
 * @throws LeaseLost when it is no longer this worker's: the transaction must not commit.
 */
export async function completeJob(db: Queryable, job: Job): Promise<void> {
  if (!only(await deleteHeldJob(db, holding(job)))) throw new LeaseLost(job);
}

/**
 * The job runs again after `delay` seconds, counted by the database's clock. Its failures and lost claims start again
 * from zero unless they are given.
 * @throws LeaseLost when it is no longer this worker's: the transaction must not commit.
 */
export async function rescheduleJob(
  db: Queryable,
  job: Job,
  { delay, failures = 0, lostClaims = 0 }: { delay: number; failures?: number; lostClaims?: number },
): Promise<void> {
  const values = { ...holding(job), delay, failures, lost_claims: lostClaims };
  if (!only(await updateHeldJob(db, values))) throw new LeaseLost(job);
}
