import { type Database, isUnavailableError } from '../database.ts';
import type { Log } from '../log.ts';
import { type Job, LeaseLost } from '../queue.ts';
import { boolean, double, integer, integers, jsonb, nullable, statement, texts } from '../statement.ts';
import type { Lanes } from './lanes.ts';
import { suspectAfterLostClaims } from './park-job.ts';
import { runPeriodically } from './periodic.ts';

/**
 * How far back a claim looks. If a claim finds nothing, all jobs due at that time are in closed lanes or
 * locked. Until one of these lanes opens, claims need to look only at jobs that became due later. Otherwise
 * each claim would scan all jobs that wait for a slow receiver (measured: 9 ms for 20,000 jobs, 40 times a
 * second).
 */
type ClaimWindow = {
  /** Returns the seconds to look back. @param hasOpened whether a lane opened since the last empty claim. */
  seconds(hasOpened: boolean): number;
  /** Returns whether the last claim looked at all jobs and found none. Later commits were announced since. */
  hasSeenAll(): boolean;
  /** Records an empty claim, with its start on the clock and the seconds it looked back. */
  foundNothing(began: number, seconds: number): void;
  /** Clears the cached values. */
  forget(): void;
};

/** 30 years, which is longer than any job has existed. */
const everything = 1e9;
/** All jobs are checked at this interval, because jobs from long transactions become visible late. */
const everythingEveryMs = 1_000;
/** A job is due from the start of its transaction, but visible only after the commit. */
const transactionMs = 250;

/** @param clock milliseconds of a monotonic clock. */
export function openClaimWindow(clock: () => number = () => performance.now()): ClaimWindow {
  let last: number | undefined;
  let lastOfAll = 0;
  return {
    seconds(hasOpened) {
      const isDue = clock() - lastOfAll >= everythingEveryMs;
      return last === undefined || hasOpened || isDue ? everything : (clock() - last + transactionMs) / 1_000;
    },
    hasSeenAll: () => last !== undefined && last === lastOfAll,
    foundNothing(began, seconds) {
      last = began;
      if (seconds === everything) lastOfAll = began;
    },
    forget() {
      last = undefined;
    },
  };
}

/** Always true. It lets the statement commit without waiting for the disk. */
const isCommittedLater = "(select set_config('synchronous_commit', 'off', true)) is not null";

/**
 * Renews the leases of claimed jobs. Locked rows are being settled and are skipped, because two statements
 * that wait for many rows could deadlock. It does not wait for the disk.
 */
export const renewLeases = statement('workspace_ids ids lease_tokens:uuids lease_seconds', 'lease_token')`
  /* operator: across workspaces */
  with free as materialized (
    select job.workspace_id, job.id
      from unnest($workspace_ids, $ids, $lease_tokens) as own (workspace_id, id, lease_token)
     cross join lateral (
       select workspace_id, id from jobs
        where jobs.workspace_id = own.workspace_id and jobs.id = own.id and jobs.lease_token = own.lease_token
          for update skip locked) job
  ),
  renewed as (
    update jobs
       set run_at = now() + make_interval(secs => $lease_seconds)
      from free
     where jobs.workspace_id = free.workspace_id and jobs.id = free.id
    returning jobs.lease_token
  )
  select lease_token from renewed where ${isCommittedLater}`;

export type ClaimedJob = {
  job: Job;
  abort: AbortController;
  /** performance.now() at the end of the lease or slightly earlier, counted from the request. */
  leasedUntil: number;
};

type LeasesOptions = { database: Database; log: Log; leaseSeconds: number; jobs: () => Iterable<ClaimedJob> };

/** The number of checks per lease. A lease is renewed after a third of its time. */
const checksPerLease = 10;
const renewedAfter = 1 / 3;

/**
 * Renews the leases of claimed jobs, so that a job may take any time, but another process takes over soon
 * after this one dies. A job whose lease still expires is aborted: the database is unreachable, or another
 * worker has the job.
 */
export function keepLeases({ database, log, leaseSeconds, jobs }: LeasesOptions): { stop(): Promise<void> } {
  const leaseMs = leaseSeconds * 1_000;
  const lookMs = leaseMs / checksPerLease;
  const leftOf = ({ leasedUntil }: ClaimedJob): number => leasedUntil - performance.now();

  const renew = async (): Promise<void> => {
    const due = [...jobs()].filter((each) => leftOf(each) < leaseMs * (1 - renewedAfter));
    if (due.length === 0) return;
    const leasedUntil = performance.now() + leaseMs;
    const rows = await renewLeases(database, {
      workspace_ids: due.map(({ job }) => job.workspaceId),
      ids: due.map(({ job }) => job.id),
      lease_tokens: due.map(({ job }) => job.leaseToken),
      lease_seconds: leaseSeconds,
    });
    const renewed = new Set(rows.map(({ lease_token }) => lease_token));
    for (const each of due) if (renewed.has(each.job.leaseToken)) each.leasedUntil = leasedUntil;
  };
  const endLost = (): void => {
    for (const each of jobs()) if (leftOf(each) < lookMs) each.abort.abort(new LeaseLost(each.job));
  };

  const renewing = runPeriodically('renewing leases', { pauseMs: lookMs, log, work: renew });
  // A separate timer, because renewing may wait for the database.
  const watch = setInterval(endLost, lookMs).unref();
  return {
    async stop() {
      clearInterval(watch);
      await renewing.stop();
    },
  };
}

/** A due job with a token has a claim that never ended, because settling removes the token. */
const lostClaims = '(lost_claims + (lease_token is not null)::integer)';

/**
 * Leases up to `limit` due jobs, oldest first, within the free capacity of each lane. It uses the time of the
 * database, so the clocks of processes do not matter.
 *
 * The rows are locked before the lanes are counted, so two processes see disjoint rows and never wait for
 * each other. Closed lanes are skipped. A claim therefore returns all jobs that can run, or fills a lane that
 * the next claim skips (measured in claim.ts).
 *
 * A claim does not wait for the disk. If PostgreSQL crashes and loses it, the job is due again and its token
 * invalid: it runs twice, but is settled once.
 */
export const claimJobs = statement(
  [
    'kinds closed_lanes rooms:integers limit lease_seconds',
    {
      /** The concurrency limit per lane, for each kind. */
      caps: integers,
      /** Lanes whose free capacity differs from the limit of their kind; `rooms` has that capacity. */
      open_lanes: texts,
      /** Looks only at jobs that became due within this many seconds (ClaimWindow). */
      look_back: double,
      /** Jobs with this many lost claims are skipped (park-job.ts); null: one of them may be claimed. */
      lost_below: nullable(integer),
      /** Jobs with at least this many lost claims are claimed one at a time. */
      lost_alone: integer,
      /** False after a database outage, which ends leases although their processes run. */
      counts_lost: boolean,
    },
  ],
  ['workspace_id id kind:text lane lease_token failures lost_claims', { payload: jsonb<object>() }],
)`
  /* operator: across workspaces */
  with due as materialized (
    select workspace_id, id, kind, lane, run_at, case when $counts_lost then ${lostClaims} else lost_claims end as lost
      from jobs
     where run_at <= now() and run_at >= now() - make_interval(secs => $look_back)
       and kind = any($kinds) and lane <> all($closed_lanes) and ($lost_below is null or ${lostClaims} < $lost_below)
     order by run_at
     limit $limit
       for update skip locked
  ),
  placed as (
    select workspace_id, id, kind, lane, row_number() over (partition by lane order by run_at) as place,
           lost, row_number() over (partition by lost >= $lost_alone order by run_at) as turn, gen_random_uuid() as token
      from due
  ),
  claimed as (
    update jobs
       set run_at = now() + make_interval(secs => $lease_seconds), lease_token = placed.token, lost_claims = placed.lost
      from placed
      join unnest($kinds, $caps) as handler (kind, cap) on handler.kind = placed.kind
      left join unnest($open_lanes, $rooms) as open (lane, room) on open.lane = placed.lane
     where jobs.workspace_id = placed.workspace_id and jobs.id = placed.id
       and placed.place <= coalesce(open.room, handler.cap) and (placed.lost < $lost_alone or placed.turn = 1)
    returning jobs.workspace_id, jobs.id, jobs.kind, jobs.lane, jobs.payload, jobs.lease_token, jobs.failures,
              jobs.lost_claims
  )
  select * from claimed where ${isCommittedLater}`;

/** Returns the seconds until the next job that this process can run is due; null if there is none. */
const findNextDue = statement('kinds closed_lanes look_back lost_below?', 'seconds?')`
  /* operator: across workspaces */
  select extract(epoch from min(run_at) - now())::double precision as seconds
    from jobs
   where run_at >= now() - make_interval(secs => $look_back) and parked_at is null
     and kind = any($kinds) and lane <> all($closed_lanes) and ($lost_below is null or ${lostClaims} < $lost_below)`;

export type JobClaimOptions = {
  database: Database;
  lanes: Lanes;
  lookBack: ClaimWindow;
  /** The kinds of jobs that this process runs. `caps` has their initial limit per lane. */
  kinds: string[];
  caps: number[];
  leaseSeconds: number;
  /**
   * Whether this process runs a job that may have killed a worker (park-job.ts); no second one is claimed.
   */
  hasSuspect: () => boolean;
  /** When a claim last found the database unavailable, by performance.now(). */
  outage: { seenAt: number };
};

/** The longest sleep of a queue that cannot receive announcements or may have missed jobs. */
export const pollMs = 1_000;
/** The longest sleep of a queue that receives announcements. It limits the delay if one is lost. */
export const listeningPollMs = 15_000;
/** A due job that could not be claimed is briefly locked by another process. */
const retryClaimMs = 20;
/** The maximum per statement, because it locks this many rows before it knows their lanes. */
const mostAtOnce = 128;

/**
 * Leases the jobs to start now.
 *
 * Measured on two cores, if all jobs are checked: a healthy job behind 10,000 due jobs of a dead lane is
 * claimed in 2 to 4 ms. Behind 100,000, it is claimed in 17 ms.
 * @param free how many more jobs can be claimed.
 */
export async function claimDueJobs(claims: JobClaimOptions, free: number): Promise<Job[]> {
  const { database, kinds, caps, lanes, lookBack, leaseSeconds, outage } = claims;
  const limit = Math.min(free, mostAtOnce);
  const { names, rooms } = lanes.rooms();
  const began = performance.now();
  const opened = lanes.takeOpened();
  const look_back = lookBack.seconds(opened.length > 0);
  const rows = await claimJobs(database, {
    kinds,
    caps,
    closed_lanes: lanes.closed(),
    open_lanes: names,
    rooms,
    look_back,
    lost_below: lostBelow(claims),
    lost_alone: suspectAfterLostClaims,
    limit,
    lease_seconds: leaseSeconds,
    // An outage longer than a lease ends the leases of running processes. Those are not lost claims.
    counts_lost: began - outage.seenAt > leaseSeconds * 1_000,
  }).catch((error: unknown) => {
    if (isUnavailableError(error)) outage.seenAt = performance.now();
    lookBack.forget();
    throw error;
  });
  if (rows.length === 0) lookBack.foundNothing(began, look_back);
  else lanes.keepOpened(opened);
  // Only if the process is full, because each round costs an empty claim.
  if (rows.length === free) lanes.served(new Set(rows.map(({ lane }) => lane)));
  else if (rows.length === 0 && lanes.newRound()) return claimDueJobs(claims, free);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    payload: row.payload,
    leaseToken: row.lease_token,
    failures: row.failures,
    lostClaims: row.lost_claims,
  }));
}

const lostBelow = ({ hasSuspect }: JobClaimOptions): number | null =>
  hasSuspect() ? suspectAfterLostClaims : null;

/**
 * Returns for how many milliseconds there is nothing to claim, unless a job is added or a lane opens.
 * @param isListening whether this process receives announcements. If so, after all jobs were checked and no
 * due job is locked, it can sleep until the next one is due.
 */
export async function findNextClaimDelay(claims: JobClaimOptions, isListening: boolean): Promise<number> {
  const { database, kinds, lanes, lookBack } = claims;
  const lost_below = lostBelow(claims);
  const closed_lanes = lanes.closed();
  const find = async (look_back: number): Promise<number> => {
    const [next] = await findNextDue(database, { kinds, closed_lanes, look_back, lost_below });
    return (next?.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  };
  if (isListening && closed_lanes.length === 0 && lookBack.hasSeenAll()) {
    const ms = await find(everything);
    if (ms > 0) return Math.min(Math.max(ms, retryClaimMs), listeningPollMs);
  }
  return Math.min(Math.max(await find(lookBack.seconds(false)), retryClaimMs), pollMs);
}
