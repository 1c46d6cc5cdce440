import { statement } from '#kit/statement.ts';

/** A batch of what a workspace that has ended has most of; what hangs on it goes with it. */
const deleteEnded = (table: string, note = '') =>
  statement(
    `endings.delete_${table}`,
    'workspace_id',
    'count',
    `${note}with gone as (
     delete from ${table} where workspace_id = $workspace_id and id in (
       select id from ${table} where workspace_id = $workspace_id limit 500)
     returning id)
   select count(*) as count from gone`,
  );

export const deleteEndedSubmissions = deleteEnded('submissions', '/* with the trash, trashed_at or not */ ');
export const deleteEndedDeliveries = deleteEnded('deliveries');
export const deleteEndedEvents = deleteEnded('events');
export const deleteEndedMails = deleteEnded('mails');

/** The last step: everything that is left of it. */
export const deleteWorkspace = statement(
  'endings.delete_workspace',
  'workspace_id now',
  'id',
  `delete from workspaces where id = $workspace_id and ends_at <= $now returning id`,
);
