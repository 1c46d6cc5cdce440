import { type Database, transaction } from '../database.ts';
import type { Log } from '../log.ts';
import { type Job, LeaseLost } from '../queue.ts';
import { onlyRow, type Queryable, statement } from '../statement.ts';

/** The reason that the delivery log, the email log and the task show for a parked job. */
export const parkedReason =
  'The server stopped three times while processing this, so it will not be retried automatically.';

export const selectParkedJobs = statement('limit', 'workspace_id id kind:text parked_at:timestamp')`
  /* operator: across workspaces */
  select workspace_id, id, kind, parked_at from jobs where parked_at is not null order by parked_at limit $limit`;

/** Makes a parked job due again. */
export const restartParkedJob = statement('workspace_id id', 'id')`
  update jobs set run_at = now(), failures = 0, lost_claims = 0, parked_at = null
   where workspace_id = $workspace_id and id = $id and parked_at is not null
  returning id`;

const markParked = statement('workspace_id id lease_token', 'id')`
  update jobs set run_at = 'infinity', parked_at = now(), lease_token = null
   where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
  returning id`;

/** A job with this many lost claims in a row is parked: it would probably kill the next process too. */
export const parkAfterLostClaims = 3;

/**
 * A process runs jobs with this many lost claims one at a time. A process that dies loses all its jobs, so
 * this ensures that only the job that kills processes gets a third lost claim.
 */
export const suspectAfterLostClaims = 2;

/** Marks the subject of the job as failed, in the transaction that parks the job. */
export type OnParked = (client: Queryable, job: Job, reason: string) => Promise<void>;

/**
 * Parks a claimed job. It is not due again until a person retries it.
 * @throws LeaseLost if it no longer belongs to this worker.
 */
export async function parkJob(
  database: Database,
  log: Log,
  job: Job,
  onParked: OnParked | undefined,
): Promise<void> {
  const { workspaceId: workspace_id, id, leaseToken: lease_token, kind } = job;
  await transaction(database, async (client) => {
    if (!onlyRow(await markParked(client, { workspace_id, id, lease_token }))) throw new LeaseLost(job);
    await onParked?.(client, job, parkedReason);
  });
  log.error({ kind, job: id, workspace: workspace_id, lost_claims: job.lostClaims }, 'a job was parked');
}
