import { type Database, notifierOf, partNameOf } from './database.ts';
import { currentTrace } from './log.ts';
import {
  double,
  jsonb,
  onlyRow,
  type Queryable,
  type StatementColumn,
  statement,
  uuid,
} from './statement.ts';

/**
 * The durable queue in the table `jobs`: webhooks, emails, sweeps and exports are its jobs.
 *
 * A job is enqueued in the transaction of its cause, so both happen or neither does. A worker
 * (queue/worker.ts) claims it with a lease and runs the handler of its kind. The handler settles the job in
 * the transaction that writes its result. If a worker dies, the lease expires and another worker claims the
 * job: every job runs at least once, and writes at most once.
 */
export type Job<Payload = unknown> = {
  readonly workspaceId: string;
  readonly id: string;
  readonly kind: string;
  /** Jobs of a lane share a concurrency limit. */
  readonly lane: string;
  readonly payload: Payload;
  /** Proof of the lease, which settling requires. */
  readonly leaseToken: string;
  /** How many times in a row its handler threw. */
  readonly failures: number;
  /** How many previous claims in a row ended without a result: the process died, or the lease expired. */
  readonly lostClaims: number;
};

/**
 * The slot of a job in its lane, which limits concurrency. A job has a slot from the start, unless its kind
 * claims ahead (queue/lanes.ts): then it enters after its preparation.
 */
export type LaneSlot = {
  /**
   * Waits for a slot, if the job does not have one yet.
   * @throws LaneNarrowed if no slot will be free for a long time, or the reason of the job's signal. Do not
   * catch it.
   */
  enter(): Promise<void>;
  /** Releases the slot before the handler ends, if only settling is left, so that the next job can start. */
  leave(): void;
};

/**
 * Runs one job, and settles it by completeJob or rescheduleJob in its own transaction. If it throws, the
 * error is logged and the job runs again later. If it leaves the job unsettled, the job runs again when the
 * lease ends. The lease is renewed while the handler runs and the database is available.
 * @param signal aborts if the lease is lost or the queue stops: stop working and throw.
 */
export type JobHandler = (job: Job, signal: AbortSignal, turn: LaneSlot) => Promise<void>;

/** Thrown while a job waits for a lane that has become slow. The worker returns it before it starts. */
export class LaneNarrowed extends Error {
  override readonly name = 'LaneNarrowed';
}

/**
 * Thrown by completeJob and rescheduleJob if the lease has expired and another worker may have the job. It
 * rolls back the transaction, so a worker that was frozen cannot overwrite the result of its successor.
 */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(job: Job) {
    super(`The lease of job ${job.id} (${job.kind}) expired before its result was written.`);
  }
}

/** The channel on which processes announce new jobs. */
export const jobsChannel = 'formloom_jobs';

const jobColumns = 'jobs (workspace_id, id, kind, lane, payload, run_at, created_at)';

/** A delivery or email that is sent again may still have a parked job with its id. That job starts over. */
const restartIfParked = `on conflict (workspace_id, id) do update
     set payload = excluded.payload, run_at = excluded.run_at, failures = 0, lost_claims = 0, parked_at = null
   where jobs.parked_at is not null`;

/**
 * Returns the SQL that adds jobs in the statement that writes their causes.
 * @param source an earlier materialized part with the columns workspace_id, id, kind, lane, payload, run_at
 * and at.
 */
export const insertJobsSql = (source: string): string =>
  `insert into ${jobColumns}
   select workspace_id, id, kind, lane, payload, run_at, at from ${source} ${restartIfParked}`;

const insertJob = statement(
  [
    'workspace_id id kind:text lane',
    { payload: jsonb<object>() /** Seconds until it is due. */, delay: double },
  ],
  '',
)`
  insert into ${jobColumns}
  values ($workspace_id, $id, $kind, $lane, $payload, now() + make_interval(secs => $delay), now()) ${restartIfParked}`;

/** Returns the trace of the current request for a job's payload, for the job and its retries. */
export const getTracePayload = (): { traceparent?: string } => {
  const traceparent = currentTrace();
  return traceparent === undefined ? {} : { traceparent };
};

/** Adds a job. Call `wake` (or announceJobs) after the commit. */
export const enqueueJob: typeof insertJob = (db, job) =>
  insertJob(db, { ...job, payload: { ...job.payload, ...getTracePayload() } });

const notifyJobs = statement('payloads:texts', '')`
  select from unnest($payloads) as payload, pg_notify('${jobsChannel}', payload)`;

/** Returns the announcement of new jobs in a pool's cell. A queue recognizes its own by `sender`. */
export const announcementOf = (database: Database, sender: string): string =>
  `${sender} ${partNameOf(database)}`;

/** Sends announcements in one statement, over the pool of `notifierOf`. */
export const sendAnnouncements = (place: Database, payloads: string[]): Promise<unknown> =>
  notifyJobs(place, { payloads });

/**
 * Announces new jobs to all queues of a cell. Call it after the commit: PostgreSQL serializes the commits of
 * transactions that notify.
 */
export const announceJobs = (database: Database, sender = ''): Promise<unknown> =>
  sendAnnouncements(notifierOf(database), [announcementOf(database, sender)]);

/**
 * Announces new jobs to the queues of all cells, with the commit. For rare jobs, or if the caller has no
 * queue or does not know the cell of its transaction.
 */
export const announceJobsWithCommit = (db: Queryable): Promise<unknown> => notifyJobs(db, { payloads: [''] });

/**
 * Returns the parts of a `with` that settle many jobs inside another statement, each only with its lease. The
 * last part, `settled_job`, has the workspace_id and id of the settled jobs. Any other job belongs to another
 * worker, and nothing may be written for it.
 * @param source a from-item with the columns workspace_id, id, lease_token and run_at, the time of the next
 * run; null: the job is done.
 */
export const settleJobsSql = (source: string): string =>
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

const claimedJobColumns = { workspace_id: uuid, id: uuid, lease_token: uuid } satisfies Record<
  string,
  StatementColumn<string>
>;
const claimedJobKey = (job: Job): { workspace_id: string; id: string; lease_token: string } => ({
  workspace_id: job.workspaceId,
  id: job.id,
  lease_token: job.leaseToken,
});

const deleteClaimedJob = statement(claimedJobColumns, 'id')`
  delete from jobs
   where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
  returning id`;

const updateClaimedJob = statement(['delay failures lost_claims', claimedJobColumns], 'id')`
  update jobs
     set run_at = now() + make_interval(secs => $delay), lease_token = null, failures = $failures,
         lost_claims = $lost_claims
   where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
  returning id`;

/**
 * Completes a job.
 * @throws LeaseLost if it no longer belongs to this worker: the transaction must not commit.
 */
export async function completeJob(db: Queryable, job: Job): Promise<void> {
  if (!onlyRow(await deleteClaimedJob(db, claimedJobKey(job)))) throw new LeaseLost(job);
}

/**
 * Schedules a job to run again after `delay` seconds, by the database's clock. Its failures and lost claims
 * restart at zero unless given.
 * @throws LeaseLost if it no longer belongs to this worker: the transaction must not commit.
 */
export async function rescheduleJob(
  db: Queryable,
  job: Job,
  { delay, failures = 0, lostClaims = 0 }: { delay: number; failures?: number; lostClaims?: number },
): Promise<void> {
  const values = { ...claimedJobKey(job), delay, failures, lost_claims: lostClaims };
  if (!onlyRow(await updateClaimedJob(db, values))) throw new LeaseLost(job);
}
