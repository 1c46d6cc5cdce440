import { leastIdAtSql, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { statement } from '#kit/statement.ts';
import { retentionIntervalSql } from '#workspaces/retention.ts';
import { isFormOfSql } from './record-event.ts';

/**
 * Deletes all events of submissions, with their deliveries and attempts, so that no more requests are sent.
 * Jobs for waiting deliveries then find nothing, and end. Rows are locked in the order of ids, so that
 * concurrent runs cannot deadlock.
 */
export const deleteEventsOfSubmissions = statement(
  'workspace_id submission_ids',
  'events:bigint deliveries:bigint',
)`
  with waiting as (
    select d.workspace_id, d.id from deliveries d
      join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where e.workspace_id = $workspace_id and e.submission_id = any ($submission_ids)
     order by d.id
       for update of d
  ),
  deleted as (
    delete from deliveries using waiting
     where deliveries.workspace_id = waiting.workspace_id and deliveries.id = waiting.id
    returning deliveries.id
  ),
  gone as (
    delete from events
     where workspace_id = $workspace_id and submission_id = any ($submission_ids)
    returning id
  )
  select (select count(*) from gone) as events, (select count(*) from deleted) as deliveries`;

/** Rows with a smaller id are older than the retention period of the form `f`. */
const oldest = leastIdAtSql(`($now - ${retentionIntervalSql('deliveries')})`);

/**
 * Deletes the oldest finished deliveries of a workspace's webhooks whose retention period has ended, with
 * their attempts. Ids begin with their time, so the index of each webhook finds them, up to the shortest period
 * of its forms.
 */
const pruneDeliveries = statement('workspace_id now operator_days limit', 'count')`
  with old as (
    select d.workspace_id, d.id
      from workspaces w
      join webhooks h on h.workspace_id = w.id
      cross join lateral (
        select deliveries.workspace_id, deliveries.id from deliveries
          join forms f on f.workspace_id = deliveries.workspace_id and f.id = deliveries.form_id
         where deliveries.workspace_id = h.workspace_id and deliveries.webhook_id = h.id and deliveries.id < ${oldest}
           and deliveries.status <> 'Retrying'
           and deliveries.id < (select ${oldest} as oldest from forms f
                                 where f.workspace_id = h.workspace_id and ${isFormOfSql('f.id', 'h')}
                                 order by oldest desc limit 1)
         order by deliveries.id
         limit $limit
           for update of deliveries skip locked) d
     where w.id = $workspace_id
     limit $limit
  ),
  pruned as (
    delete from deliveries using old
     where deliveries.workspace_id = old.workspace_id and deliveries.id = old.id
    returning deliveries.id
  )
  select count(*) as count from pruned`;

/**
 * Deletes the oldest events of a workspace whose retention period has ended and that have no deliveries. The
 * feed records up to which position events may be missing. Deleted events without a position count as one
 * more position, so that a returning reader gets an error.
 */
const pruneEvents = statement('workspace_id now operator_days limit', 'count')`
  with old as (
    select e.workspace_id, e.id
      from workspaces w
      join forms f on f.workspace_id = w.id
      cross join lateral (
        select workspace_id, id from events
         where workspace_id = f.workspace_id and form_id = f.id and id < ${oldest}
           and not exists (select from deliveries
                            where deliveries.workspace_id = events.workspace_id and deliveries.event_id = events.id)
         order by id
         limit $limit
           for update skip locked) e
     where w.id = $workspace_id
     limit $limit
  ),
  pruned as (
    delete from events using old
     where events.workspace_id = old.workspace_id and events.id = old.id
    returning events.position, events.is_test
  ),
  gone as (
    select max(position) as placed, coalesce(bool_or(position is null and not is_test), false) as has_unplaced
      from pruned
  ),
  feed as (
    update feeds
       set last = feeds.last + has_unplaced::integer,
           removed = greatest(feeds.removed, gone.placed, case when has_unplaced then feeds.last + 1 end)
      from gone
     where feeds.workspace_id = $workspace_id and (has_unplaced or gone.placed is not null)
  )
  select count(*) as count from pruned`;

/** Finds the workspaces that may have an event to delete, by looking up the first key of each form. */
const findWorkspacesToPrune = statement('now operator_days', 'id')`
  /* operator: across workspaces */
  select w.id from workspaces w
   where exists (
     select from forms f
      where f.workspace_id = w.id
        and exists (select from events where workspace_id = f.workspace_id and form_id = f.id and id < ${oldest}))`;

/** Rows that one statement deletes. It takes a few milliseconds, so that writers do not wait. */
const batch = 500;

/**
 * Deletes finished deliveries with their attempts, and events without deliveries, when the retention period
 * of their form, workspace and instance has ended. If a run is interrupted, the next run continues.
 * @returns the number of deleted rows of each kind.
 */
export async function pruneDeliveryLog(
  { database }: { database: Database },
  { retentionDays }: { retentionDays: number },
): Promise<{ deliveries: number; events: number }> {
  const due = { now: now(), operator_days: retentionDays };
  const pruned = { deliveries: 0, events: 0 };
  for (const { id } of await findWorkspacesToPrune(database, due)) {
    const oldest = { workspace_id: id, ...due, limit: batch };
    pruned.deliveries += await deleteAll(() => pruneDeliveries(database, oldest));
    pruned.events += await deleteAll(() => pruneEvents(database, oldest));
  }
  return pruned;
}

/** Repeats a batch until one is not full. */
async function deleteAll(prune: () => Promise<{ count: number }[]>): Promise<number> {
  for (let total = 0; ; ) {
    const [pruned] = await prune();
    total += pruned!.count;
    if (pruned!.count < batch) return total;
  }
}
