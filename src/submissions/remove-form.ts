import { deleteFormRow } from '#forms/queries.ts';
import { type Database, transaction } from '#kit/database.ts';
import { completeJob, type Job, rescheduleJob } from '#kit/queue.ts';
import type { Queryable } from '#kit/statement.ts';
import { lockOldestSubmissions } from './changes/queries.ts';
import { removeRows } from './changes/remove.ts';
import { deleteHeld } from './held/queries.ts';
import { findFormRemainder } from './queries.ts';

/** Submissions removed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;
/** Between looks at what a deleted form still waits for (deliveries on their way, files to sweep). */
const remainderSeconds = 60;

/**
 * The job `form.remove`: one batch of a deleted form's submissions with their `submission.deleted` events
 * (docs/rules.md 4), again and again, and in the end the form itself, once its last deliveries have been made.
 */
export async function removeFormBatch(
  context: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> {
  const { form_id: formId } = job.payload as { form_id: string };
  const { workspaceId } = job;
  const deliveries = await transaction(context.database, async (client) => {
    const batch = await lockOldestSubmissions(client, {
      workspace_id: workspaceId,
      form_id: formId,
      limit: batchSize,
    });
    if (batch.length === 0) {
      await finish(client, job, formId);
      return 0;
    }
    const made = await removeRows(client, { workspaceId, formId }, batch);
    await rescheduleJob(client, job, { delay: 0 });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}

async function finish(db: Queryable, job: Job, formId: string): Promise<void> {
  const key = { workspace_id: job.workspaceId, form_id: formId };
  await deleteHeld(db, { ...key, ids: null });
  const [remainder] = await findFormRemainder(db, key);
  if (remainder!.has_deliveries || remainder!.has_files) {
    await rescheduleJob(db, job, { delay: remainderSeconds });
    return;
  }
  await deleteFormRow(db, { workspace_id: job.workspaceId, id: formId });
  await completeJob(db, job);
}
