import {
  boolean,
  type Columns,
  double,
  integer,
  integers,
  jsonb,
  nullable,
  statement,
  texts,
} from '../statement.ts';

/** Always true; the commit of its statement does not wait for the disk. */
const isCommittedLater = "(select set_config('synchronous_commit', 'off', true)) is not null";

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
export const findNextDue = statement(
  'queue.find_next_due',
  'kinds closed_lanes look_back lost_below?',
  'seconds?',
  `/* operator: across workspaces */
   select extract(epoch from min(run_at) - now())::double precision as seconds
     from jobs
    where run_at >= now() - make_interval(secs => $look_back) and parked_at is null
      and kind = any($kinds) and lane <> all($closed_lanes) and ($lost_below is null or ${lostClaims} < $lost_below)`,
);

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

/**
 * Takes the first rows of what waits for a job in a table, in the transaction that does them (take-step.ts).
 * @param place the table, whose key is `workspace_id`, what they wait for (`of`) and their order (`by`).
 */
export const takeFirst = <const C extends Columns>(
  name: string,
  { table, of, by }: { table: string; of: string; by: string },
  columns: C,
) =>
  statement(
    name,
    'workspace_id id limit',
    columns,
    `with taken as (
       delete from ${table} where workspace_id = $workspace_id and ${of} = $id and ${by} in (
         select ${by} from ${table} where workspace_id = $workspace_id and ${of} = $id order by ${by} limit $limit)
       returning ${Object.keys(columns).join(', ')})
     select ${Object.keys(columns).join(', ')} from taken order by ${by}`,
  );

/** Shown in the delivery log, the mail log and the task. */
export const parkedReason =
  'The server stopped three times while it worked on this, so it does not try again by itself.';

/** Parks a job that is held. */
export const markParked = statement(
  'queue.park_job',
  'workspace_id id lease_token',
  'id',
  `update jobs set run_at = 'infinity', parked_at = now(), lease_token = null
    where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
   returning id`,
);

/** Parked jobs, the oldest first. */
export const selectParked = statement(
  'queue.select_parked',
  'limit',
  'workspace_id id kind:text parked_at:timestamp',
  `/* operator: across workspaces */
   select workspace_id, id, kind, parked_at from jobs where parked_at is not null order by parked_at limit $limit`,
);

/** Makes a parked job due again. */
export const restartJob = statement(
  'queue.restart_job',
  'workspace_id id',
  'id',
  `update jobs set run_at = now(), failures = 0, lost_claims = 0, parked_at = null
    where workspace_id = $workspace_id and id = $id and parked_at is not null
   returning id`,
);

/** Whether a task has failed for good: SQL that is the reason, or null while it goes on. */
export const failedReason = (task: string, nameInPayload: string): string =>
  `(select '${parkedReason}' from jobs
     where jobs.workspace_id = ${task}.workspace_id and jobs.parked_at is not null
       and jobs.payload ->> '${nameInPayload}' = ${task}.id::text limit 1)`;
