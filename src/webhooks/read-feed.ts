import type { FileLinks } from '#files/stored-files.ts';
import { feedLifetimeSql, isFeedOnSql } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { columns, nullable, onlyRow, statement, textEnum, uuids } from '#kit/statement.ts';
import type { EventKind } from './event.ts';
import { formatDeliveryBody } from './signature.ts';

const ends = columns('last removed:bigint');

/** Finds the event feed of a workspace if it is on and was read in the last hour. */
const findFeed = statement('workspace_id', ends)`
  select last, removed from feeds
   where workspace_id = $workspace_id and ${isFeedOnSql} and read_at > now() - interval '1 hour'`;

/** SQL for the condition that the feed was still on when it is read again (see isFeedOnSql). */
const wasRead = `feeds.read_at + ${feedLifetimeSql} > excluded.read_at`;

/**
 * Turns the feed on, or records that it was read. If it was off, events may be missing, so they count as
 * removed.
 */
const recordFeedRead = statement('workspace_id', ends)`
  insert into feeds (workspace_id, read_at) values ($workspace_id, now())
  on conflict (workspace_id) do update
     set read_at = excluded.read_at,
         last = case when ${wasRead} then feeds.last else feeds.last + 1 end,
         removed = case when ${wasRead} then feeds.removed else feeds.last + 1 end
  returning last, removed`;

/**
 * Returns the next events of the feed. Scans at most `window` events, so that reading a rare kind does not
 * scan the whole feed. Every row says how many were scanned and up to which position. If no event matches,
 * there is one row without an event.
 */
const selectFeed = statement(
  [
    'workspace_id after:bigint window:integer limit webhook_id?',
    { form_ids: nullable(uuids), kind: nullable(textEnum<EventKind>()) },
  ],
  [
    'seen:bigint reach:bigint? position:bigint? delivery_id? occurred_at? snapshot?',
    { kind: nullable(textEnum<EventKind>()) },
  ],
)`
  with seen as materialized (
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
   order by wanted.position`;

/** Returns whether there are committed events without a position. */
const hasUnpositionedEvents = statement('workspace_id', 'found:boolean')`
  select exists (select from events
                  where workspace_id = $workspace_id and position is null and not is_test) as found`;

/** Locks the feed, so that one process at a time assigns positions. */
const lockFeed = statement('workspace_id', 'last')`
  select last from feeds where workspace_id = $workspace_id for no key update`;

/**
 * Assigns the next positions to the oldest committed events without a position. Run it under the lock of
 * lockFeed, as a separate statement, so that it sees what the previous process committed. Locked rows are
 * left for the next run, because they may be about to be deleted (pruneEvents).
 */
const assignEventPositions = statement('workspace_id last limit', 'count')`
  with unplaced as (
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
  select count(*) as count from placed`;

export type FeedRequest = {
  workspaceId: string;
  /** The cursor of a page; undefined to start with the oldest event that is kept. */
  after: number | undefined;
  limit: number;
  formIds: readonly string[] | null;
  kind?: EventKind | undefined;
  /** If set, only events that this webhook receives, with the ids of its deliveries. */
  webhookId?: string | undefined;
};

/**
 * A page of the feed. `bodies` are the events as JSON text, as webhooks send them. `next` is the cursor to
 * continue with, even if there is no event.
 */
export type FeedPage = { bodies: string[]; next: number; hasMore: boolean };

type FeedContext = { database: Database; links: Pick<FileLinks, 'sign'> };

/** The number of events that a filtered read scans. */
const filteredWindow = 1_000;
/** The number of events that get a position in one transaction, which takes about 20 ms. */
const positionsAtOnce = 1_000;

/**
 * Returns the next events, in the order in which their commits were seen. A reader that continues with `next`
 * misses no event, however late the event commits (docs/decisions/0018). The first read turns the feed on.
 * @throws ApiError gone if events after the cursor are no longer kept.
 */
export async function readFeed(context: FeedContext, question: FeedRequest): Promise<FeedPage> {
  const workspace = { workspace_id: question.workspaceId };
  const feed =
    onlyRow(await findFeed(context.database, workspace)) ??
    onlyRow(await recordFeedRead(context.database, workspace))!;
  const after = question.after ?? feed.removed;
  if (after < feed.removed)
    throw new ApiError(
      'gone',
      'Events after this cursor are no longer kept. Read without "after" to continue with the oldest event, and compare your data with the submissions.',
    );
  if (after > feed.last)
    throw new ApiError('gone', 'This cursor is not from this feed. Read without "after".');
  const page = await readPage(context, question, after);
  if (page.hasMore) return page;
  const placed = await assignPositions(context.database, question.workspaceId);
  if (placed === 0) return page;
  const again = await readPage(context, question, after);
  return { ...again, hasMore: again.hasMore || placed === positionsAtOnce };
}

/** Returns the cursor after all events so far. The first read turns the feed on. */
export async function findFeedEnd({ database }: FeedContext, workspaceId: string): Promise<number> {
  const workspace = { workspace_id: workspaceId };
  await recordFeedRead(database, workspace);
  while ((await assignPositions(database, workspaceId)) === positionsAtOnce);
  return onlyRow(await findFeed(database, workspace))!.last;
}

/** Assigns positions to events that were committed since the last run. @returns the number of events. */
async function assignPositions(database: Database, workspaceId: string): Promise<number> {
  const workspace = { workspace_id: workspaceId };
  const [unplaced] = await hasUnpositionedEvents(database, workspace);
  if (!unplaced!.found) return 0;
  return transaction(database, async (client) => {
    const feed = onlyRow(await lockFeed(client, workspace));
    if (!feed) return 0;
    const [placed] = await assignEventPositions(client, {
      ...workspace,
      last: feed.last,
      limit: positionsAtOnce,
    });
    // If another process was faster, no events are left to position, but there are events to read.
    return Math.max(placed!.count, 1);
  });
}

async function readPage(
  { database, links }: FeedContext,
  question: FeedRequest,
  after: number,
): Promise<FeedPage> {
  const { workspaceId, limit, formIds, kind, webhookId } = question;
  const isFiltered = formIds !== null || kind !== undefined || webhookId !== undefined;
  const window = isFiltered ? filteredWindow : limit;
  const rows = await selectFeed(database, {
    workspace_id: workspaceId,
    after,
    window,
    limit,
    form_ids: formIds && [...formIds],
    kind: kind ?? null,
    webhook_id: webhookId ?? null,
  });
  const { seen, reach } = rows[0]!;
  const events = rows.filter(({ position }) => position !== null);
  const bodies = events.map((row) =>
    formatDeliveryBody({
      kind: row.kind!,
      occurredAt: row.occurred_at!,
      deliveryId: row.delivery_id!,
      snapshot: row.snapshot!,
      signLink: links.sign,
    }),
  );
  const next = events.length === limit ? events.at(-1)!.position! : (reach ?? after);
  return { bodies, next, hasMore: seen === window || next < (reach ?? after) };
}
