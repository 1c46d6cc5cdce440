import { type Columns, only, type Queryable, statement } from '../statement.ts';
import { type Database, transaction } from '../database.ts';
import type { Log } from '../log.ts';
import { type Job, LeaseLost } from '../queue.ts';

/** Shown in the delivery log, the mail log and the task. */
export const parkedReason =
  'The server stopped three times while it worked on this, so it does not try again by itself.';

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

/** Parks a job that is held. */
const markParked = statement(
  'queue.park_job',
  'workspace_id id lease_token',
  'id',
  `update jobs set run_at = 'infinity', parked_at = now(), lease_token = null
    where workspace_id = $workspace_id and id = $id and lease_token = $lease_token
   returning id`,
);

/** After so many lost claims in a row a job is parked: it would end the next process, too. */
export const parkAfter = 3;

/**
 * After so many lost claims a process runs one such job at a time. A process that dies loses all jobs that it holds:
 * run apart, the job that ends processes is the only one that gets a third lost claim.
 */
export const suspectAfter = 2;

/** Marks what the job was for as failed, in the transaction that parks the job. */
export type OnParked = (client: Queryable, job: Job, reason: string) => Promise<void>;

/**
 * Parks a job that was claimed: it is never due again until somebody retries it.
 * @throws LeaseLost when it is no longer this worker's.
 */
export async function parkJob(
  database: Database,
  log: Log,
  job: Job,
  onParked: OnParked | undefined,
): Promise<void> {
  const { workspaceId: workspace_id, id, leaseToken: lease_token, kind } = job;
  await transaction(database, async (client) => {
    if (!only(await markParked(client, { workspace_id, id, lease_token }))) throw new LeaseLost(job);
    await onParked?.(client, job, parkedReason);
  });
  log.error({ kind, job: id, workspace: workspace_id, lost_claims: job.lostClaims }, 'a job was parked');
}
