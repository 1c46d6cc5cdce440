import { deleteFormRow } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import type { Job } from '#kit/queue.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { runTaskStep } from '#tasks/run-tasks.ts';
import { deleteSpam } from '../spam.ts';
import { snapshotColumns, snapshotSelection, versionJoin } from './edit.ts';
import { removeLockedSubmissions } from './remove.ts';

/**
 * Selects what still delays the removal of a deleted form: waiting deliveries, and files that the sweep has
 * not deleted yet.
 */
const findFormRemainder = statement('workspace_id form_id', 'has_deliveries:boolean has_files')`
  select exists (select from deliveries d where d.workspace_id = $workspace_id and d.form_id = $form_id and d.status = 'Retrying') as has_deliveries,
         exists (select from files f where f.workspace_id = $workspace_id and f.form_id = $form_id) as has_files`;

/**
 * Locks the next submissions of a form that is being removed, oldest first, so that two workers do not remove
 * the same ones.
 */
const lockOldestSubmissions = statement('workspace_id form_id limit', snapshotColumns)`
  select ${snapshotSelection} from submissions s ${versionJoin}
  where s.workspace_id = $workspace_id and s.form_id = $form_id
  order by s.id limit $limit for update of s`;

/** The number of submissions removed per transaction, to keep locks short. */
const batchSize = 500;
/** The delay, in seconds, between checks for remaining deliveries and files of a deleted form. */
const remainderSeconds = 60;

/**
 * Runs the job `form.remove`, which removes a deleted form's submissions batch by batch with their
 * `submission.deleted` events (docs/rules.md 4). At the end it removes the form itself, after its last
 * deliveries.
 */
export const removeFormSubmissionsBatch = (
  context: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> =>
  runTaskStep(context, job, 0, async (client, { task }) => {
    const { workspaceId } = job;
    const formId = task.subject_id!;
    const key = { workspace_id: workspaceId, form_id: formId };
    const batch = await lockOldestSubmissions(client, { ...key, limit: batchSize });
    if (batch.length === 0)
      return { isLast: await removeRemainder(client, workspaceId, formId), delay: remainderSeconds };
    const deliveries = await removeLockedSubmissions(client, { workspaceId, formId }, batch);
    return { done: batch.length, isWaking: deliveries > 0, isLast: false };
  });

/** Removes the form itself. @returns false while deliveries or files still delay the removal. */
async function removeRemainder(db: Queryable, workspaceId: string, formId: string): Promise<boolean> {
  const key = { workspace_id: workspaceId, form_id: formId };
  await deleteSpam(db, { ...key, ids: null });
  const [remainder] = await findFormRemainder(db, key);
  if (remainder!.has_deliveries || remainder!.has_files) return false;
  await deleteFormRow(db, { workspace_id: workspaceId, id: formId });
  return true;
}
