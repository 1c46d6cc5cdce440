import { newId, now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { enqueueJob, type Job } from '#kit/queue.ts';
import { takeStep } from '#kit/queue/take-step.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { ChangeContext } from '../changes/edit.ts';
import type { FormKey, StoredSubmission } from '../changes/event.ts';
import { lockSubmissions } from '../changes/queries.ts';
import { removeRows } from '../changes/remove.ts';
import { type ChangedBy, changedBy } from '../history/changed-by.ts';
import { mostTags } from '../tags/tags.ts';
import { lockTrashedForRemoval } from '../trash/queries.ts';
import { trashMany } from '../trash/trash.ts';
import {
  advanceBulk,
  type BulkKind,
  findBulkWork,
  insertBulk,
  tagSubmissions,
  takeBulkItems,
} from './queries.ts';

/** The job that does one bulk change. */
export const bulkJob = 'submissions.bulk';

/** At most so many at a time: their ids are held in memory once (about 20 MB). */
export const bulkLimit = 200_000;

/** Submissions changed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;

/** What is done with which submissions, and for whom. */
export type BulkRequest = {
  kind: BulkKind;
  ids: readonly string[];
  by: Actor;
  /** Where the kind is `tag`. */
  tags?: { added: string[]; removed: string[] };
};

/**
 * Asks for a change of exactly these submissions. A job does it in batches behind.
 * @returns the bulk change, whose `done` grows up to at most `total`: what is gone already is skipped.
 * @throws ApiError not_found for a form that is gone.
 */
export async function startBulk(
  context: ChangeContext,
  { workspaceId, formId }: FormKey,
  { kind, ids, by, tags = { added: [], removed: [] } }: BulkRequest,
) {
  const id = newId();
  const bulk = await transaction(context.database, async (client) => {
    const [inserted] = await insertBulk(client, {
      workspace_id: workspaceId,
      id,
      form_id: formId,
      kind,
      tags_added: tags.added,
      tags_removed: tags.removed,
      ...changedBy(by),
      submission_ids: [...new Set(ids)],
      created_at: timeOfId(id),
    });
    if (!inserted) throw new ApiError('not_found');
    await enqueueJob(client, {
      workspace_id: workspaceId,
      id: newId(),
      kind: bulkJob,
      // One workspace's bulk changes take turns, and keep no other workspace waiting.
      lane: `${bulkJob} ${workspaceId}`,
      payload: { bulk_id: id, form_id: formId } satisfies Payload,
      delay: 0,
    });
    return inserted;
  });
  context.wakeQueue();
  return bulk;
}

/**
 * Holds how many there are against how many somebody meant.
 * @throws ApiError conflict.
 */
export function requireExpected(found: number, expected: number | undefined): void {
  if (expected === undefined || found === expected) return;
  const words = found === bulkLimit ? `${bulkLimit} go at a time` : `now there are ${found}`;
  throw new ApiError('conflict', `You confirmed ${expected}, but ${words}. Nothing was changed.`);
}

type Payload = { bulk_id: string; form_id: string };

/** The job: one batch, with its events where it is for good, again and again, until the list is empty. */
export async function bulkBatch(context: ChangeContext, job: Job): Promise<void> {
  const { bulk_id: id, form_id: formId } = job.payload as Payload;
  const { workspaceId } = job;
  const waiting = { take: takeBulkItems, id, limit: batchSize };
  const deliveries = await takeStep(context.database, job, waiting, async (client, items, isLast) => {
    const work = only(await findBulkWork(client, { workspace_id: workspaceId, id }));
    const ids = items.map((item) => item.submission_id);
    const { done, made } = work
      ? await works[work.kind](client, { workspaceId, formId }, ids, work)
      : { done: 0, made: 0 };
    await advanceBulk(client, { workspace_id: workspaceId, id, done, finished_at: isLast ? now() : null });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}

const byOf = ({ changed_by, api_key_id, through }: ChangedBy): ChangedBy => ({
  changed_by,
  api_key_id,
  through,
});

type Asked = Awaited<ReturnType<typeof findBulkWork>>[number];
/** Does it with some: how many there were, and how many deliveries that makes. */
type Work = (
  db: Queryable,
  key: FormKey,
  ids: string[],
  asked: Asked,
) => Promise<{ done: number; made: number }>;

type Lock = (
  db: Queryable,
  rows: { workspace_id: string; form_id: string; ids: string[] },
) => Promise<StoredSubmission[]>;

const removeThose =
  (lock: Lock): Work =>
  async (db, key, ids) => {
    const rows = await lock(db, { workspace_id: key.workspaceId, form_id: key.formId, ids });
    return { done: rows.length, made: await removeRows(db, key, rows) };
  };

const works: Readonly<Record<BulkKind, Work>> = {
  trash: async (db, key, ids, asked) => ({
    done: await trashMany(db, key, { ids, by: byOf(asked) }),
    made: 0,
  }),
  empty: removeThose(lockTrashedForRemoval),
  remove: removeThose(lockSubmissions),
  async tag(db, key, ids, { tags_added: added, tags_removed: removed, ...asked }) {
    const tagged = await tagSubmissions(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      ids,
      change_ids: ids.map(() => newId()),
      added,
      removed,
      most: mostTags,
      ...byOf(asked),
      now: now(),
    });
    return { done: tagged.length, made: 0 };
  },
};
