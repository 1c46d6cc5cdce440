import { statement } from '../statement.ts';

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
