import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import { deleteFormRow } from '#forms/queries.ts';
import { type Database, transaction } from '#kit/database.ts';
import { completeJob, type Job, rescheduleJob } from '#kit/queue.ts';
import { now } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvents } from '#webhooks/record-event.ts';
import { addToCount, deleteSubmissions, findFormRemainder, findSubmissionsToRemove } from './queries.ts';

/** Submissions removed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;
/** Between looks at what a deleted form still waits for (deliveries on their way, files to sweep). */
const remainderSeconds = 60;

/**
 * The job `form.remove`: one batch of a deleted form's submissions with their `submission.deleted` events
 * (DESIGN 4.4), again and again, and in the end the form itself, once its last deliveries have been made.
 */
export async function removeFormBatch(context: { database: Database; wakeQueue: () => void }, job: Job): Promise<void> {
  const { form_id: formId } = job.payload as { form_id: string };
  const { workspaceId } = job;
  const deliveries = await transaction(context.database, async (client) => {
    const batch = await findSubmissionsToRemove(client, { workspace_id: workspaceId, form_id: formId, limit: batchSize });
    if (batch.length === 0) {
      await finish(client, job, formId);
      return 0;
    }
    const made = await recordEvents(client, workspaceId, formId, batch.filter((row) => row.completed_at !== null).map((row) => deletedEvent(workspaceId, formId, row)));
    await removeRows(client, workspaceId, batch.map((row) => row.id));
    await rescheduleJob(client, job, { delay: 0 });
    return made;
  });
  if (deliveries > 0) context.wakeQueue();
}

type Batch = Awaited<ReturnType<typeof findSubmissionsToRemove>>;

function deletedEvent(workspaceId: string, formId: string, row: Batch[number]) {
  return {
    submissionId: row.id,
    kind: 'submission.deleted' as const,
    occurredAt: now(),
    snapshot: snapshotOf({
      form: { id: formId, name: row.form_name, workspaceId },
      submission: {
        id: row.id,
        submittedAt: row.completed_at,
        status: row.status,
        reference: row.reference as Record<string, string>,
        answers: row.answers as Answers,
      },
      fields: row.fields as Record<string, FieldDescription>,
    }),
  };
}

async function removeRows(db: Queryable, workspaceId: string, ids: string[]): Promise<void> {
  const removed = await deleteSubmissions(db, { workspace_id: workspaceId, ids });
  for (const { form_id, status, count } of removed) {
    await addToCount(db, { workspace_id: workspaceId, form_id, status, slot: 0, change: -count });
  }
}

async function finish(db: Queryable, job: Job, formId: string): Promise<void> {
  const key = { workspace_id: job.workspaceId, form_id: formId };
  const [remainder] = await findFormRemainder(db, key);
  if (remainder!.has_deliveries || remainder!.has_files) {
    await rescheduleJob(db, job, { delay: remainderSeconds });
    return;
  }
  await deleteFormRow(db, { workspace_id: job.workspaceId, id: formId });
  await completeJob(db, job);
}
