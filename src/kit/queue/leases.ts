import type { Database } from '../database.ts';
import type { Log } from '../log.ts';
import { runPeriodically } from '../periodic.ts';
import { type Job, LeaseLost } from '../queue.ts';
import { statement } from '../statement.ts';

/** Always true; the commit of its statement does not wait for the disk. */
export const isCommittedLater = "(select set_config('synchronous_commit', 'off', true)) is not null";

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
