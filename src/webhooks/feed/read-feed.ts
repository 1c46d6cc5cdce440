import type { FileLinks } from '#files/link.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import { deliveryBody } from '../body.ts';
import type { EventKind } from '../event.ts';
import { findFeed, hasUnplacedEvents, lockFeed, placeEvents, readFeedAgain, selectFeed } from './queries.ts';

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
