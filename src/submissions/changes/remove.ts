import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { recordEvents } from '#webhooks/record-event.ts';
import { createChangeEvent, type FormKey, type StoredSubmission } from '../change-event.ts';
import { addToSubmissionCount, deleteSubmissions } from '../submission-rows.ts';
import { type ChangeServices, snapshotColumns, snapshotSelection, versionJoin } from './edit.ts';

/** Locks existing submissions of the form, in the order of ids so that two removals cannot deadlock. */
export const lockSubmissions = statement('workspace_id form_id ids', snapshotColumns)`
  select ${snapshotSelection} from submissions s ${versionJoin}
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
  order by s.id for update of s`;

/**
 * Deletes one submission permanently, and sends an event if it was completed.
 * @throws ApiError not_found, precondition_failed.
 */
export async function removeSubmission(
  context: ChangeServices,
  { id, unchanged, ...key }: FormKey & { id: string; unchanged?: IfMatchTimes },
): Promise<void> {
  const deliveries = await transaction(context.database, async (client) => {
    const rows = await lockSubmissions(client, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      ids: [id],
    });
    const [row] = rows;
    if (!row) throw new ApiError('not_found');
    requireUnchanged(unchanged, row.updated_at);
    return removeLockedSubmissions(client, key, rows);
  });
  if (deliveries > 0) context.wakeQueue();
}

/**
 * Deletes submissions that the caller's transaction has locked, with their search documents and counts.
 * Records `submission.deleted` for those that were completed (docs/rules.md 4). After that, no submission
 * owns their files, and the sweep deletes them.
 * @returns the number of new deliveries.
 */
export async function removeLockedSubmissions(
  db: Queryable,
  key: FormKey,
  rows: readonly StoredSubmission[],
): Promise<number> {
  const { workspaceId, formId } = key;
  const completed = rows.filter((row) => row.completed_at !== null);
  const deliveries = await recordEvents(
    db,
    workspaceId,
    formId,
    completed.map((row) => createChangeEvent('submission.deleted', key, row)),
  );
  await deleteLockedSubmissions(db, key, rows);
  return deliveries;
}

/** Deletes rows that the caller's transaction has locked, with all dependent rows, without events. */
export async function deleteLockedSubmissions(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  rows: readonly Pick<StoredSubmission, 'id'>[],
): Promise<void> {
  const removed = await deleteSubmissions(db, { workspace_id: workspaceId, ids: rows.map((row) => row.id) });
  // A fixed order, so that two transactions cannot deadlock on the counts.
  for (const { status, count } of removed.sort((a, b) => a.status.localeCompare(b.status)))
    await addToSubmissionCount(db, { workspace_id: workspaceId, form_id: formId, status, change: -count });
}
