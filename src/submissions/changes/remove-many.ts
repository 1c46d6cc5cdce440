import { newId, now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { completeJob, enqueueJob, type Job, rescheduleJob } from '#kit/queue.ts';
import type { ChangeContext } from './edit.ts';
import type { FormKey } from './event.ts';
import { advanceRemoval, insertRemoval, lockSubmissions, takeRemovalItems } from './queries.ts';
import { removeRows } from './remove.ts';

/** The job that removes the submissions of one bulk removal. */
export const removeManyJob = 'submissions.remove';

/** At most so many at a time: their ids are held in memory once (about 20 MB). */
export const removalLimit = 200_000;

/** Submissions removed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;

/**
 * Asks for the removal of exactly these submissions; a job removes them in batches behind.
 * @returns the removal, whose `removed` grows up to at most `total`: what is gone already is skipped.
 * @throws ApiError not_found for a form that is gone.
 */
export async function startRemoval(
  context: ChangeContext,
  { workspaceId, formId }: FormKey,
  request: { userId: string; ids: readonly string[] },
) {
  const id = newId();
  const removal = await transaction(context.database, async (client) => {
    const [inserted] = await insertRemoval(client, {
      workspace_id: workspaceId,
      id,
      form_id: formId,
      requested_by: request.userId,
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
      payload: { removal_id: id, form_id: formId } satisfies Payload,
      delay: 0,
    });
    return inserted;
  });
  context.wakeQueue();
  return removal;
}

type Payload = { removal_id: string; form_id: string };

/** The job: one batch with its events, again and again, until the list is empty. */
export async function removeManyBatch(context: ChangeContext, job: Job): Promise<void> {
  const { removal_id: id, form_id: formId } = job.payload as Payload;
  const { workspaceId } = job;
  const deliveries = await transaction(context.database, async (client) => {
    const items = await takeRemovalItems(client, {
      workspace_id: workspaceId,
      removal_id: id,
      limit: batchSize,
    });
    const ids = items.map((item) => item.submission_id);
    const rows = await lockSubmissions(client, { workspace_id: workspaceId, form_id: formId, ids });
    const made = await removeRows(client, { workspaceId, formId }, rows);
    const isLast = ids.length < batchSize;
    await advanceRemoval(client, {
      workspace_id: workspaceId,
      id,
      removed: rows.length,
      finished_at: isLast ? now() : null,
    });
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: 0 });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}
