import { feedLasts, isFeedRead } from '#forms/queries.ts';
import { type Column, columns, nullable, statement, uuids, word } from '#kit/statement.ts';
import type { EventKind } from '../event.ts';

const bigints: Column<number[]> = { pg: 'bigint[]' };

const ends = columns('last removed:bigint');

/** The feed of a workspace, when it is on and was read within the hour. */
export const findFeed = statement(
  'webhooks.find_feed',
  'workspace_id',
  ends,
  `select last, removed from feeds
    where workspace_id = $workspace_id and ${isFeedRead} and read_at > now() - interval '1 hour'`,
);

/** isFeedRead, of the feed as it is being read again. */
const wasRead = `feeds.read_at + ${feedLasts} > excluded.read_at`;

/**
 * Switches the feed on, or notes that it is read. Where it was off, events may be missing that happened meanwhile:
 * they count as removed.
 */
export const readFeedAgain = statement(
  'webhooks.read_feed_again',
  'workspace_id',
  ends,
  `insert into feeds (workspace_id, read_at) values ($workspace_id, now())
   on conflict (workspace_id) do update
      set read_at = excluded.read_at,
          last = case when ${wasRead} then feeds.last else feeds.last + 1 end,
          removed = case when ${wasRead} then feeds.removed else feeds.last + 1 end
   returning last, removed`,
);

/**
 * The next events of the feed. It looks at no more than `window` events, so that a rare kind does not make it read
 * the whole feed, and says how many it saw and up to where. Without any that is wanted there is one row, of nulls.
 */
export const selectFeed = statement(
  'webhooks.select_feed',
  [
    'workspace_id after:bigint window:integer limit webhook_id?',
    {
      /** Null: no limit. */
      form_ids: nullable(uuids),
      kind: nullable(word<EventKind>()),
    },
  ],
  [
    'seen:bigint reach:bigint? position:bigint? delivery_id? occurred_at? snapshot?',
    { kind: nullable(word<EventKind>()) },
  ],
  `with seen as materialized (
     select position, id, form_id, kind, occurred_at, snapshot
       from events
      where workspace_id = $workspace_id and position > $after
      order by position
      limit $window
   )
   select ends.seen, ends.reach, wanted.position, wanted.delivery_id, wanted.kind, wanted.occurred_at,
          wanted.snapshot::text as snapshot
     from (select count(*) as seen, max(position) as reach from seen) as ends
     left join lateral (
       select seen.position, coalesce(delivery.id, seen.id) as delivery_id, seen.kind, seen.occurred_at, seen.snapshot
         from seen
         left join lateral (
           select id from deliveries
            where workspace_id = $workspace_id and event_id = seen.id and webhook_id = $webhook_id
            limit 1) as delivery on $webhook_id is not null
        where ($form_ids is null or seen.form_id = any($form_ids))
          and ($kind is null or seen.kind = $kind)
          and ($webhook_id is null or delivery.id is not null)
        order by seen.position
        limit $limit) as wanted on true
    order by wanted.position`,
);

/** Whether events were committed that have no position yet. */
export const hasUnplacedEvents = statement(
  'webhooks.has_unplaced_events',
  'workspace_id',
  'found:boolean',
  `select exists (select from events
                   where workspace_id = $workspace_id and position is null and not is_test) as found`,
);

/** One process at a time gives positions. */
export const lockFeed = statement(
  'webhooks.lock_feed',
  'workspace_id',
  'last',
  `select last from feeds where workspace_id = $workspace_id for no key update`,
);

/**
 * Gives the oldest committed events without a position the next ones. Only while lockFeed's lock is held, and in a
 * statement of its own, which sees what whoever had the lock before has committed. What another locks is left for the
 * next time: it may be on its way out (pruneEvents).
 */
export const placeEvents = statement(
  'webhooks.place_events',
  'workspace_id last limit',
  'count',
  `with unplaced as (
     select id from events
      where workspace_id = $workspace_id and position is null and not is_test
      order by id
      limit $limit
        for no key update skip locked
   ),
   numbered as (select id, row_number() over (order by id) as place from unplaced),
   placed as (
     update events set position = $last + numbered.place
       from numbered
      where events.workspace_id = $workspace_id and events.id = numbered.id
     returning events.position
   ),
   feed as (
     update feeds set last = (select max(position) from placed)
      where feeds.workspace_id = $workspace_id and exists (select from placed)
   )
   select count(*) as count from placed`,
);

/** Of those who wait, whom an event awaits: the places of their workspace and position in the arrays, from 1. */
export const selectNews = statement(
  'webhooks.select_news',
  ['workspace_ids', { afters: bigints }],
  'place:bigint',
  `select waiting.place
     from unnest($workspace_ids, $afters) with ordinality as waiting (workspace_id, after, place)
    where exists (select from events
                   where events.workspace_id = waiting.workspace_id and position is null and not is_test)
       or exists (select from events
                   where events.workspace_id = waiting.workspace_id and position > waiting.after)`,
);

/** Whether a form is there. */
export const findFormOfFeed = statement(
  'webhooks.find_form_of_feed',
  'workspace_id id',
  'id',
  `select id from forms where workspace_id = $workspace_id and id = $id and deleted_at is null`,
);
