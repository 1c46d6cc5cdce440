import { type Database, isUnavailable } from '../database.ts';
import type { Log } from '../log.ts';
import { type Job, LeaseLost } from '../queue.ts';
import { boolean, double, integer, integers, jsonb, nullable, statement, texts } from '../statement.ts';
import type { Lanes } from './lanes.ts';
import { suspectAfter } from './park-job.ts';
import { runPeriodically } from './periodic.ts';

/**
 * How far back a claim looks. When one has found nothing, all that was due by then is of closed lanes or locked by
 * somebody else. Until one of these lanes opens, only what became due since need be looked at: else each look walks over
 * all that waits for a slow receiver (measured: 9 ms for 20,000 jobs, 40 times a second).
 */
type LookBack = {
  /** Seconds. @param hasOpened whether a lane has opened since the last claim that found nothing. */
  seconds(hasOpened: boolean): number;
  /** Whether the last claim looked at everything, and found nothing: what is committed since was announced since. */
  hasSeenAll(): boolean;
  /** A claim that began then (of the clock) and looked back so far has found nothing. */
  foundNothing(began: number, seconds: number): void;
  /** Nothing is known any more. */
  forget(): void;
};

/** Before anything that there is: 30 years. */
const everything = 1e9;
/** Everything is looked at so often in any case, for jobs that were enqueued by transactions that took long. */
const everythingEveryMs = 1_000;
/** A job is due from the beginning of the transaction that enqueues it, and seen after its end. */
const transactionMs = 250;

/** @param clock milliseconds of any clock that only goes forward. */
export function openLookBack(clock: () => number = () => performance.now()): LookBack {
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

/** Always true; the commit of its statement does not wait for the disk. */
const isCommittedLater = "(select set_config('synchronous_commit', 'off', true)) is not null";

/**
 * Makes leases go on, of those that are still held. What somebody has locked is being settled, and left out: waiting for
 * it, two statements of many rows could wait for each other. Nor does this wait for the disk.
 */
export const renewLeases = statement(
  'queue.renew_leases',
  'workspace_ids ids lease_tokens:uuids lease_seconds',
  'lease_token',
  `/* operator: across workspaces */
   with free as materialized (
     select job.workspace_id, job.id
       from unnest($workspace_ids, $ids, $lease_tokens) as held (workspace_id, id, lease_token)
      cross join lateral (
        select workspace_id, id from jobs
         where jobs.workspace_id = held.workspace_id and jobs.id = held.id and jobs.lease_token = held.lease_token
           for update skip locked) job
   ),
   renewed as (
     update jobs
        set run_at = now() + make_interval(secs => $lease_seconds)
       from free
      where jobs.workspace_id = free.workspace_id and jobs.id = free.id
     returning jobs.lease_token
   )
   select lease_token from renewed where ${isCommittedLater}`,
);

/** A job that this process has claimed. */
export type Held = {
  job: Job;
  abort: AbortController;
  /** performance.now() when the lease ends, or a little before: counted from when it was asked for. */
  leasedUntil: number;
};

type LeasesOptions = {
  database: Database;
  log: Log;
  leaseSeconds: number;
  /** What is held at any time. */
  held: () => Iterable<Held>;
};

/** Looked at so often in the time of a lease, and renewed when a third of it has passed. */
const looksPerLease = 10;
const renewedAfter = 1 / 3;

/**
 * Renews the leases of what is held, so that a job may take as long as it needs, and another process takes over soon
 * after this one died. A job whose lease is about to end all the same is aborted: the database is out of reach, or it
 * is somebody else's by now.
 */
export function keepLeases({ database, log, leaseSeconds, held }: LeasesOptions): { stop(): Promise<void> } {
  const leaseMs = leaseSeconds * 1_000;
  const lookMs = leaseMs / looksPerLease;
  const leftOf = ({ leasedUntil }: Held): number => leasedUntil - performance.now();

  const renew = async (): Promise<void> => {
    const due = [...held()].filter((each) => leftOf(each) < leaseMs * (1 - renewedAfter));
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
    for (const each of held()) if (leftOf(each) < lookMs) each.abort.abort(new LeaseLost(each.job));
  };

  const renewing = runPeriodically('renewing leases', { pauseMs: lookMs, log, work: renew });
  // Apart from the renewing, which may wait for the database.
  const watch = setInterval(endLost, lookMs).unref();
  return {
    async stop() {
      clearInterval(watch);
      await renewing.stop();
    },
  };
}

/** A due job with a token was claimed before, and that claim never ended: whatever ends one takes the token away. */
const lostClaims = '(lost_claims + (lease_token is not null)::integer)';

/**
 * Leases up to `limit` due jobs, the longest due first, and no more of a lane than it has room for.
 * Time is the database's, so clocks of processes do not matter.
 *
 * The rows are locked before the lanes are counted: two processes therefore see disjoint rows and never wait for
 * each other. Closed lanes are left out of the scan, so what a claim returns is all that can run, or it fills a lane,
 * and the next claim looks behind that lane: see the measurement in claim.ts.
 *
 * A claim does not wait for the disk. Should PostgreSQL crash in the next moments and forget it, the job is due again
 * and its token void: it is run twice, and settled once.
 */
export const claimJobs = statement(
  'queue.claim_jobs',
  [
    'kinds closed_lanes rooms:integers limit lease_seconds',
    {
      /** Of each kind: how many of a lane may run at once. */
      caps: integers,
      /** Lanes whose room is not their kind's cap, and that room. */
      open_lanes: texts,
      /** Only what became due so many seconds ago (look-back.ts). */
      look_back: double,
      /** Jobs with so many lost claims are left out (park-job.ts); null: one of them may be claimed. */
      lost_below: nullable(integer),
      /** From so many lost claims on, one job is claimed at a time. */
      lost_alone: integer,
      /** False after an outage of the database, in which leases end although their processes run (claim.ts). */
      counts_lost: boolean,
    },
  ],
  ['workspace_id id kind:text lane lease_token failures lost_claims', { payload: jsonb<object>() }],
  `/* operator: across workspaces */
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
   select * from claimed where ${isCommittedLater}`,
);

/** Seconds until the next job is due that could run here; null when there is none. */
const findNextDue = statement(
  'queue.find_next_due',
  'kinds closed_lanes look_back lost_below?',
  'seconds?',
  `/* operator: across workspaces */
   select extract(epoch from min(run_at) - now())::double precision as seconds
     from jobs
    where run_at >= now() - make_interval(secs => $look_back) and parked_at is null
      and kind = any($kinds) and lane <> all($closed_lanes) and ($lost_below is null or ${lostClaims} < $lost_below)`,
);

export type Claims = {
  database: Database;
  lanes: Lanes;
  lookBack: LookBack;
  /** Kinds that this process knows, and how many of a lane of each may be inside at first. */
  kinds: string[];
  caps: number[];
  leaseSeconds: number;
  /** Whether a job runs here whose worker may have died of it (park-job.ts): then no second one is claimed. */
  hasSuspect: () => boolean;
  /** When a claim last found the database away, by performance.now(). */
  outage: { seenAt: number };
};

/** The longest sleep of who cannot be told of new work, or may have overlooked some. */
export const pollMs = 1_000;
/** The longest sleep of who is told: work whose announcement is lost is found this much later. */
export const restMs = 15_000;
/** A due job that could not be claimed is locked by somebody else for a moment. */
const retryClaimMs = 20;
/** One statement claims no more: it locks so many rows before it knows of their lanes. */
const mostAtOnce = 128;

/**
 * Leases the jobs to begin now.
 *
 * Measured on two cores: a healthy job behind 10,000 due jobs of a dead lane is claimed in 2 to 4 ms, behind
 * 100,000 in 17 ms, when everything is looked at.
 * @param free how many more can be held.
 */
export async function claim(claims: Claims, free: number): Promise<Job[]> {
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
    lost_alone: suspectAfter,
    limit,
    lease_seconds: leaseSeconds,
    // An outage longer than a lease ends the leases of processes that run on. The next process to die of a job has seen none.
    counts_lost: began - outage.seenAt > leaseSeconds * 1_000,
  }).catch((error: unknown) => {
    if (isUnavailable(error)) outage.seenAt = performance.now();
    lookBack.forget();
    throw error;
  });
  if (rows.length === 0) lookBack.foundNothing(began, look_back);
  else lanes.keepOpened(opened);
  // Only when no more can be held: a round costs one claim that finds nothing.
  if (rows.length === free) lanes.served(new Set(rows.map(({ lane }) => lane)));
  else if (rows.length === 0 && lanes.newRound()) return claim(claims, free);
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

const lostBelow = ({ hasSuspect }: Claims): number | null => (hasSuspect() ? suspectAfter : null);

/**
 * How long there will be nothing to claim, in milliseconds, unless a job is added or a lane opens.
 * @param isTold whether other processes are heard when they add one. Then, once all that was there was looked at and nothing is due that
 * somebody else has locked, it is until the next job is due.
 */
export async function idleTime(claims: Claims, isTold: boolean): Promise<number> {
  const { database, kinds, lanes, lookBack } = claims;
  const lost_below = lostBelow(claims);
  const closed_lanes = lanes.closed();
  const find = async (look_back: number): Promise<number> => {
    const [next] = await findNextDue(database, { kinds, closed_lanes, look_back, lost_below });
    return (next?.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  };
  if (isTold && closed_lanes.length === 0 && lookBack.hasSeenAll()) {
    const ms = await find(everything);
    if (ms > 0) return Math.min(Math.max(ms, retryClaimMs), restMs);
  }
  return Math.min(Math.max(await find(lookBack.seconds(false)), retryClaimMs), pollMs);
}
