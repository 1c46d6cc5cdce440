import { newId, now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { requireUnchanged } from '#kit/conditional.ts';
import type { Actor } from '#kit/operation.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import type { ChangeTarget } from '../changes/edit.ts';
import type { FormKey } from '../changes/event.ts';
import { lockSubmission } from '../changes/queries.ts';
import { type ChangedBy, changedBy } from '../history/changed-by.ts';
import { insertChange } from '../history/queries.ts';
import { addToCount, type SubmissionStatus } from '../queries.ts';
import { searchColumns } from '../search-columns.ts';
import { joinTurn } from '../taken/queries.ts';
import { refuseTaken, takeAnswers, takeTurn } from '../taken/take.ts';
import { lockTrashed, restoreSubmission, trashSubmissions } from './queries.ts';

/**
 * Lays one submission into the trash. No event tells of it: it can come back, and `submission.deleted` is for what is
 * permanently deleted (specification, "Event kinds"; docs/decisions/0017).
 * @throws ApiError not_found for one that is not there, or lies in the trash already; precondition_failed.
 */
export function trashSubmission(
  database: Database,
  { id, by, unchanged, workspaceId, formId }: ChangeTarget,
): Promise<void> {
  return transaction(database, async (client) => {
    const row = { workspace_id: workspaceId, form_id: formId, id };
    await joinTurn(client, row);
    const found = requireRow(await lockSubmission(client, row));
    requireUnchanged(unchanged, found.updated_at);
    await trashMany(client, { workspaceId, formId }, { ids: [id], by: changedBy(by) });
  });
}

/**
 * Lays these submissions of a form into the trash, in the caller's transaction, which joins the form's turn: nobody counts
 * what they take meanwhile.
 * @returns how many there were; what is gone, or in the trash already, is skipped.
 */
export async function trashMany(
  db: Queryable,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: ChangedBy },
): Promise<number> {
  await joinTurn(db, { workspace_id: key.workspaceId, form_id: key.formId });
  const trashed = await trashSubmissions(db, {
    workspace_id: key.workspaceId,
    form_id: key.formId,
    ids: [...ids],
    change_ids: ids.map(() => newId()),
    ...by,
    now: now(),
  });
  await count(db, key, trashed, -1);
  return trashed.reduce((sum, line) => sum + line.count, 0);
}

/**
 * Takes submissions out of the trash: they are where they were, with their files, and count and are found again.
 * @returns how many; what is not in the form's trash is skipped.
 * @throws ApiError conflict when others took an answer meanwhile that is taken so many times: all stay in the trash.
 */
export function restoreMany(
  database: Database,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: Actor },
): Promise<number> {
  return transaction(database, (client) =>
    restoreWithin(client, key, { ids, by: changedBy(by) }, async (work) =>
      work().catch(refuseTaken('This cannot be restored')),
    ),
  );
}

/**
 * The same in the caller's transaction, which takes the form's turn.
 * @param one does the work of one submission that may find its place taken, and may leave it where it is.
 */
export async function restoreWithin(
  db: Queryable,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: ChangedBy },
  one: (work: () => Promise<void>) => Promise<unknown>,
): Promise<number> {
  const row = { workspace_id: key.workspaceId, form_id: key.formId };
  const limited = await takeTurn(db, key);
  const restored: SubmissionStatus[] = [];
  for (const { id, structure, settings, ...given } of await lockTrashed(db, { ...row, ids: [...ids] })) {
    const work = async (): Promise<void> => {
      await restoreSubmission(db, { ...row, id, ...searchColumns(structure, settings, given) });
      if (limited) await takeAnswers(db, limited, id);
      const change = newId();
      await insertChange(db, {
        workspace_id: key.workspaceId,
        submission_id: id,
        id: change,
        kind: 'restored',
        ...by,
        changed_at: timeOfId(change),
        changes: '[]',
      });
      restored.push(given.status);
    };
    await (limited ? one(work) : work());
  }
  const counted = Map.groupBy(restored, (status) => status);
  await count(
    db,
    key,
    [...counted].map(([status, some]) => ({ status, count: some.length })),
    1,
  );
  return restored.length;
}

/** In one order, so that two transactions cannot wait for each other's counts. */
async function count(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  lines: readonly { status: SubmissionStatus; count: number }[],
  sign: 1 | -1,
): Promise<void> {
  for (const line of lines.toSorted((a, b) => a.status.localeCompare(b.status))) {
    await addToCount(db, {
      workspace_id: workspaceId,
      form_id: formId,
      status: line.status,
      change: sign * line.count,
    });
  }
}
