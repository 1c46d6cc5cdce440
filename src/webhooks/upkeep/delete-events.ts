import { statement } from '#kit/statement.ts';

/**
 * Removes every event of submissions, with its deliveries and their attempts: nobody is told of them any more. Jobs of
 * deliveries that waited find nothing, and end. In the order of ids, so that two at once cannot wait for each other.
 */
export const deleteEventsOf = statement(
  'webhooks.delete_events_of',
  'workspace_id submission_ids',
  'events:bigint deliveries:bigint',
  `with waiting as (
     select d.workspace_id, d.id from deliveries d
       join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
      where e.workspace_id = $workspace_id and e.submission_id = any ($submission_ids)
      order by d.id
        for update of d
   ),
   told as (
     delete from deliveries using waiting
      where deliveries.workspace_id = waiting.workspace_id and deliveries.id = waiting.id
     returning deliveries.id
   ),
   gone as (
     delete from events
      where workspace_id = $workspace_id and submission_id = any ($submission_ids)
     returning id
   )
   select (select count(*) from gone) as events, (select count(*) from told) as deliveries`,
);
