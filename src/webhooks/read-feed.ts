import type { FileLinks } from '#files/stored-files.ts';
import { feedLasts, isFeedRead } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { columns, nullable, only, statement, uuids, word } from '#kit/statement.ts';
import type { EventKind } from './event.ts';
import { deliveryBody } from './signature.ts';

const ends = columns('last removed:bigint');

/** The feed of a workspace, when it is on and was read within the hour. */
const findFeed = statement(
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
const readFeedAgain = statement(
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
const selectFeed = statement(
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
const hasUnplacedEvents = statement(
  'webhooks.has_unplaced_events',
  'workspace_id',
  'found:boolean',
  `select exists (select from events
                   where workspace_id = $workspace_id and position is null and not is_test) as found`,
);

/** One process at a time gives positions. */
const lockFeed = statement(
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
const placeEvents = statement(
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

/** What somebody reads of the feed. */
export type FeedQuestion = {
  workspaceId: string;
  /** As a page gave it; undefined: from the oldest event that is kept. */
  after: number | undefined;
  limit: number;
  /** null: of every form. */
  formIds: readonly string[] | null;
  kind?: EventKind | undefined;
  /** Only what this webhook hears of, with the ids of its deliveries. */
  webhookId?: string | undefined;
};

/** `bodies` are the JSON texts of webhooks; `next` is where to go on, also when none is there. */
export type FeedPage = { bodies: string[]; next: number; hasMore: boolean };

type FeedContext = { database: Database; links: Pick<FileLinks, 'sign'> };

/** Events that one question looks at when it does not want all of them. */
const filteredWindow = 1_000;
/** Events that get their position in one transaction: some 20 ms. */
const placedAtOnce = 1_000;

/**
 * The next events, in the order in which they were seen to be committed: whoever goes on from `next` passes none by,
 * however late it commits (docs/decisions/0018). The first read switches the feed on.
 * @throws ApiError gone when events after the cursor are kept no more.
 */
export async function readFeed(context: FeedContext, question: FeedQuestion): Promise<FeedPage> {
  const workspace = { workspace_id: question.workspaceId };
  const feed =
    only(await findFeed(context.database, workspace)) ??
    only(await readFeedAgain(context.database, workspace))!;
  const after = question.after ?? feed.removed;
  if (after < feed.removed) {
    throw new ApiError(
      'gone',
      'Events after this cursor are kept no more. Read without "after" to go on from the oldest that is kept, and compare with the submissions themselves.',
    );
  }
  if (after > feed.last)
    throw new ApiError('gone', 'This feed never gave this cursor. Read without "after".');
  const page = await readPage(context, question, after);
  if (page.hasMore) return page;
  const placed = await placeNew(context.database, question.workspaceId);
  if (placed === 0) return page;
  const again = await readPage(context, question, after);
  return { ...again, hasMore: again.hasMore || placed === placedAtOnce };
}

/** The cursor behind everything that has happened so far. The first read switches the feed on. */
export async function findEnd({ database }: FeedContext, workspaceId: string): Promise<number> {
  const workspace = { workspace_id: workspaceId };
  await readFeedAgain(database, workspace);
  while ((await placeNew(database, workspaceId)) === placedAtOnce);
  return only(await findFeed(database, workspace))!.last;
}

/** Gives events that were committed since the last time their positions. @returns how many. */
async function placeNew(database: Database, workspaceId: string): Promise<number> {
  const workspace = { workspace_id: workspaceId };
  const [unplaced] = await hasUnplacedEvents(database, workspace);
  if (!unplaced!.found) return 0;
  return transaction(database, async (client) => {
    const feed = only(await lockFeed(client, workspace));
    if (!feed) return 0;
    const [placed] = await placeEvents(client, { ...workspace, last: feed.last, limit: placedAtOnce });
    // When another was faster there is none left, but there is something to read.
    return Math.max(placed!.count, 1);
  });
}

async function readPage(
  { database, links }: FeedContext,
  question: FeedQuestion,
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
  const wanted = rows.filter(({ position }) => position !== null);
  const bodies = wanted.map((row) =>
    deliveryBody({
      kind: row.kind!,
      occurredAt: row.occurred_at!,
      deliveryId: row.delivery_id!,
      snapshot: row.snapshot!,
      signLink: links.sign,
    }),
  );
  const next = wanted.length === limit ? wanted.at(-1)!.position! : (reach ?? after);
  return { bodies, next, hasMore: seen === window || next < (reach ?? after) };
}
