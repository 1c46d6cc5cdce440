import { type Database, isUnavailable } from '../database.ts';
import type { Job } from '../queue.ts';
import type { Lanes } from './lanes.ts';
import { everything, type LookBack } from './look-back.ts';
import { suspectAfter } from './park-job.ts';
import { boolean, double, integer, integers, jsonb, nullable, statement, texts } from '../statement.ts';
import { isCommittedLater } from './leases.ts';

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
