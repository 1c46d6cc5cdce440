import { newId, now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { completeJob, enqueueJob, type Job, rescheduleJob } from '#kit/queue.ts';
import type { ChangeContext } from './edit.ts';
import type { FormKey } from './event.ts';
import type { Queryable } from '#kit/statement.ts';
import { lockTrashedForRemoval } from '../trash/queries.ts';
import { trashMany } from '../trash/trash.ts';
import { advanceRemoval, insertRemoval, takeRemovalItems } from './queries.ts';
import { removeRows } from './remove.ts';

/** The job that removes the submissions of one bulk removal. */
export const removeManyJob = 'submissions.remove';

/** At most so many at a time: their ids are held in memory once (about 20 MB). */
export const removalLimit = 200_000;

/** Submissions removed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;

/**
 * Asks for the removal of exactly these submissions: into the trash, or out of the trash for good. A job does it in
 * batches behind.
 * @returns the removal, whose `removed` grows up to at most `total`: what is gone already is skipped.
 * @throws ApiError not_found for a form that is gone.
 */
export async function startRemoval(
  context: ChangeContext,
  { workspaceId, formId }: FormKey,
  request: { userId: string; ids: readonly string[]; toTrash: boolean },
) {
  const id = newId();
  const removal = await transaction(context.database, async (client) => {
    const [inserted] = await insertRemoval(client, {
      workspace_id: workspaceId,
      id,
      form_id: formId,
      requested_by: request.userId,
      to_trash: request.toTrash,
      submission_ids: [...new Set(request.ids)],
      created_at: timeOfId(id),
    });
    if (!inserted) throw new ApiError('not_found');
    await enqueueJob(client, {
      workspace_id: workspaceId,
      id: newId(),
      kind: removeManyJob,
      // One workspace's removals take turns, and keep no other workspace waiting.
      lane: `${removeManyJob} ${workspaceId}`,
      payload: {
        removal_id: id,
        form_id: formId,
        trashed_by: request.toTrash ? request.userId : null,
      } satisfies Payload,
      delay: 0,
    });
    return inserted;
  });
  context.wakeQueue();
  return removal;
}

/** `trashed_by`: whose trashing it is; null for a removal for good. */
type Payload = { removal_id: string; form_id: string; trashed_by: string | null };

/** The job: one batch, with its events where it is for good, again and again, until the list is empty. */
export async function removeManyBatch(context: ChangeContext, job: Job): Promise<void> {
  const { removal_id: id, form_id: formId, trashed_by: trashedBy } = job.payload as Payload;
  const { workspaceId } = job;
  const deliveries = await transaction(context.database, async (client) => {
    const items = await takeRemovalItems(client, {
      workspace_id: workspaceId,
      removal_id: id,
      limit: batchSize,
    });
    const ids = items.map((item) => item.submission_id);
    const { removed, made } =
      trashedBy === null
        ? await removeFromTrash(client, { workspaceId, formId }, ids)
        : { removed: await trashMany(client, { workspaceId, formId }, { ids, userId: trashedBy }), made: 0 };
    const isLast = ids.length < batchSize;
    await advanceRemoval(client, {
      workspace_id: workspaceId,
      id,
      removed,
      finished_at: isLast ? now() : null,
    });
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: 0 });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}

async function removeFromTrash(
  db: Queryable,
  key: FormKey,
  ids: string[],
): Promise<{ removed: number; made: number }> {
  const rows = await lockTrashedForRemoval(db, { workspace_id: key.workspaceId, form_id: key.formId, ids });
  return { removed: rows.length, made: await removeRows(db, key, rows) };
}
