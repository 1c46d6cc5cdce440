import { leastIdAt } from '#kit/id-times.ts';
import { leastIdAt as leastId } from '#kit/clock.ts';
import {
  bigint,
  boolean,
  double,
  integer,
  nullable,
  statement,
  timestamp,
  uuid,
  uuids,
} from '#kit/statement.ts';
import { keptFor } from '#workspaces/retention/rules.ts';

/** Ids below it have been kept for as long as the form `f` says. */
const oldest = leastIdAt(`($now - ${keptFor('deliveries')})`);

/**
 * Removes the oldest deliveries of a workspace's webhooks that are over and have been kept for as long as their form says, with
 * their attempts. Ids begin with their time, so the index of each webhook finds them.
 */
export const pruneDeliveries = statement(
  'webhooks.prune_deliveries',
  { workspace_id: uuid, now: timestamp, operator_days: double, limit: integer },
  { count: bigint },
  `with old as (
     select d.workspace_id, d.id
       from workspaces w
       join webhooks h on h.workspace_id = w.id
       join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
       cross join lateral (
         select workspace_id, id from deliveries
          where workspace_id = h.workspace_id and webhook_id = h.id and id < ${oldest} and status <> 'Retrying'
          order by id
          limit $limit
            for update skip locked) d
      where w.id = $workspace_id
      limit $limit
   ),
   pruned as (
     delete from deliveries using old
      where deliveries.workspace_id = old.workspace_id and deliveries.id = old.id
     returning deliveries.id
   )
   select count(*) as count from pruned`,
);

/** Of a feed: what there was up to `gone` is there no more. */
const told = `last = feeds.last + has_unplaced::integer,
            removed = greatest(feeds.removed, gone.placed, case when has_unplaced then feeds.last + 1 end)`;
const isTold = '(has_unplaced or gone.placed is not null)';

/**
 * Removes the oldest events of a workspace that have been kept for as long as their form says and of which no delivery is left. The feed
 * remembers up to where there may be none any more; for what it never came to, that is a position of its own, so that
 * a reader who comes back is told.
 */
export const pruneEvents = statement(
  'webhooks.prune_events',
  { workspace_id: uuid, now: timestamp, operator_days: double, limit: integer },
  { count: bigint },
  `with old as (
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
     update feeds set ${told} from gone where feeds.workspace_id = $workspace_id and ${isTold}
   )
   select count(*) as count from pruned`,
);

/** The workspaces that have an event that may be old enough to go: a look at the first key of each form. */
export const findWorkspacesToPrune = statement(
  'webhooks.find_workspaces_to_prune',
  { now: timestamp, operator_days: double },
  { id: uuid },
  `/* operator: across workspaces */
   select w.id from workspaces w
    where exists (
      select from forms f
       where f.workspace_id = w.id
         and exists (select from events where workspace_id = f.workspace_id and form_id = f.id and id < ${oldest}))`,
);

/**
 * Removes every event of submissions, with its deliveries and their attempts: nobody is told of them any more. Jobs of
 * deliveries that waited find nothing, and end. In the order of ids, so that two at once cannot wait for each other.
 */
export const deleteEventsOf = statement(
  'webhooks.delete_events_of',
  { workspace_id: uuid, submission_ids: uuids },
  { events: bigint, deliveries: bigint },
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

// Parts ---------------------------------------------------------------------------------------------------

const part = {
  number: integer,
  /** Where it began, also when it has since become the first. */
  opens: nullable(timestamp),
  /** Where the next one begins. Of the last: where it is about to end. */
  below: nullable(timestamp),
} as const;
const readParts = 'select number, opens, below from ledger_parts order by number';

/** The parts of the ledger in order. There is one for every id: the first has all from before its end, the last all to come. */
export const selectParts = statement('webhooks.select_parts', {}, part, readParts);

/** Kept from changing, so that one process at a time changes parts. */
export const lockParts = statement('webhooks.lock_parts', {}, part, `${readParts} for update`);

const bytesOf = (number: string): string =>
  `(select sum(pg_total_relation_size(format('%s_%s', name, ${number})::regclass))::bigint
      from unnest('{events,deliveries,attempts}'::text[]) as part (name))`;

export const measurePart = statement(
  'webhooks.measure_part',
  { number: integer },
  { bytes: bigint },
  `select ${bytesOf('$number')} as bytes`,
);

/** How the ledger lies in parts, for whoever watches it; moments in seconds since 1970. */
export const reportParts = statement(
  'webhooks.report_parts',
  {},
  {
    parts: bigint,
    /** When the oldest part ended; null: there is one alone. */
    oldest_end: nullable(double),
    /** What the last part has where it was told no end. */
    endless_bytes: bigint,
    /** The end that it was told, and that nothing lies behind; null: it was told none. */
    told_end: nullable(double),
  },
  `select count(*) over () as parts,
          case when count(*) over () > 1 then extract(epoch from min(below) over ())::double precision end as oldest_end,
          case when below is null then ${bytesOf('number')} else 0 end as endless_bytes,
          extract(epoch from below)::double precision as told_end
     from ledger_parts order by number desc limit 1`,
);

export const endPart = statement(
  'webhooks.end_part',
  { number: integer, below: nullable(timestamp) },
  {},
  'update ledger_parts set below = $below where number = $number',
);

export const beginPart = statement(
  'webhooks.begin_part',
  { number: integer, opens: timestamp },
  {},
  'insert into ledger_parts (number, opens) values ($number, $opens)',
);

export const forgetPart = statement(
  'webhooks.forget_part',
  { number: integer },
  {},
  'delete from ledger_parts where number = $number',
);

/** Whether something below an id is still sent, or needs an event below it: a delivery of midnight, before `within`. */
export const isHeld = statement(
  'webhooks.is_held',
  { below: uuid, within: uuid },
  { held: boolean },
  `/* operator: across workspaces */
   select exists (select from deliveries
                   where status = 'Retrying' and least(id, event_id) < $below and id < $within) as held`,
);

/**
 * Whether somebody has used the ledger, or what a change of parts locks beside it, for longer than such a change waits: a backup, or a
 * vacuum of a large part. Of another role PostgreSQL may not say since when: that counts as long.
 */
export const isUsedForLong = statement(
  'webhooks.is_used_for_long',
  {},
  { used: boolean },
  `/* operator: across workspaces */
   select exists (
     select from pg_locks l
       join pg_stat_activity a on a.pid = l.pid and a.datname = current_database()
      where l.granted and coalesce(a.xact_start, '-infinity') < now() - interval '1 second'
        and l.relation in (
          select relid from unnest('{events,deliveries,attempts}'::regclass[]) as ledger, pg_partition_tree(ledger)
          union all select 'forms'::regclass union all select 'webhooks'::regclass)) as used`,
);

/** Whether something has an id from that one on: a look at the end of each workspace, however much there is. */
export const isBeyond = statement(
  'webhooks.is_beyond',
  { below: uuid },
  { beyond: boolean },
  `/* operator: across workspaces */
   select exists (
     select from workspaces w
      cross join lateral (
        (select from events where workspace_id = w.id and id >= $below limit 1)
        union all
        (select from deliveries where workspace_id = w.id and id >= $below limit 1)) as later) as beyond`,
);

/** Tells every feed that what is below an id is there no more, as pruneEvents does. */
export const tellFeeds = statement(
  'webhooks.tell_feeds',
  { below: uuid },
  {},
  `/* operator: across workspaces */
   with gone as (
     select workspace_id,
            (select max(position) from events
              where events.workspace_id = feeds.workspace_id and position is not null and id < $below) as placed,
            exists (select from events
                     where events.workspace_id = feeds.workspace_id and position is null and not is_test
                       and id < $below) as has_unplaced
       from feeds
   )
   update feeds set ${told} from gone where feeds.workspace_id = gone.workspace_id and ${isTold}`,
);

// What names tables, which are no parameters of a statement: the statements of each change, one by one. Citus takes them so.

/** Of each table: the column by which it is cut. */
const cutBy = { events: 'id', deliveries: 'id', attempts: 'delivery_id' } as const;
const ofEach = (texts: (table: string, column: string) => readonly string[]): string[] =>
  Object.entries(cutBy).flatMap(([table, column]) => texts(table, column));
const idAt = (at: Date | null, open: string): string => (at ? `'${leastId(at)}'` : open);
const attached = (table: string, number: number, from: Date | null, below: Date | null): string[] => [
  `alter table ${table} detach partition ${table}_${number}`,
  `alter table ${table} attach partition ${table}_${number} for values from (${idAt(from, 'minvalue')}) to (${idAt(below, 'maxvalue')})`,
];

/** Nobody is kept waiting for longer by who waits for these locks. */
export const waitBriefly = `set local lock_timeout = '200ms'`;
/** Longer than PostgreSQL takes to end a vacuum that it starts itself and that is waited for (`deadlock_timeout`, a second). */
export const waitLonger = `set local lock_timeout = '2s'`;
/** All that a change of parts locks, in the order in which a transaction comes to them. */
export const lockLedger = 'lock table forms, webhooks, events, deliveries, attempts in access exclusive mode';

/** Refuses ids from `below` on in the last part, and those from before it; not yet looked for among what is there. */
export const boundPart = (number: number, from: Date | null, below: Date): string[] =>
  ofEach((table, column) => [
    ...(from
      ? [
          `alter table ${table}_${number} add constraint part_from check (${column} >= '${leastId(from)}') not valid`,
        ]
      : []),
    `alter table ${table}_${number} add constraint part_below check (${column} < '${leastId(below)}') not valid`,
  ]);

const noLongerFrom = (table: string, number: number): string =>
  `alter table ${table}_${number} drop constraint if exists part_from`;

/** Takes back what `boundPart` did: the part takes all ids again. */
export const unboundPart = (number: number): string[] =>
  ofEach((table) => [
    noLongerFrom(table, number),
    `alter table ${table}_${number} drop constraint part_below`,
  ]);

/** Looks for them, while others read and write: PostgreSQL else does so when it attaches, and everybody waits. */
export const provenPart = (number: number, from: Date | null): string[] =>
  ofEach((table) =>
    [...(from ? ['part_from'] : []), 'part_below'].map(
      (name) => `alter table ${table}_${number} validate constraint ${name}`,
    ),
  );

/** Ends the last part where it was bound and proven, and begins the next. */
export const splitPart = (number: number, from: Date | null, below: Date): string[] => [
  ...ofEach((table) => [
    ...attached(table, number, from, below),
    noLongerFrom(table, number),
    `create table ${table}_${number + 1} partition of ${table} for values from ('${leastId(below)}') to (maxvalue)`,
  ]),
  `create unique index events_${number + 1}_feed on events_${number + 1} (workspace_id, position) where position is not null`,
];

/** Removes the first part. What has an id of its time goes to the next one from then on, whose end is proven already; null: it is the last. */
export const dropFirst = (number: number, next: { number: number; below: Date | null }): string[] =>
  ofEach((table) => [`drop table ${table}_${number}`, ...attached(table, next.number, null, next.below)]);
