import type { Answers } from '#ast/answers/check-answers.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { Actor } from '#kit/operation.ts';
import { json, jsonb, type Queryable, requireRow, statement, textEnum } from '#kit/statement.ts';
import type { FormKey } from '../change-event.ts';
import { buildSearchData } from '../columns.ts';
import { type ChangedBy, toChangedBy } from '../differences.ts';
import { changedByColumns, insertChange } from '../history.ts';
import { lockQuotas, shareFormLock, throwQuotaConflict, updateQuotaUse } from '../quotas.ts';
import { documentColumns, searchDocumentsSql } from '../submission-record.ts';
import { addToSubmissionCount, type SubmissionStatus } from '../submission-rows.ts';
import { type ChangeTarget, lockSubmission } from './edit.ts';

/**
 * Moves submissions of a form to the trash, which hides them everywhere else, and frees their quotas. Works
 * in the order of ids, so that two transactions cannot deadlock.
 * @returns the number of submissions by status, to subtract from the counts.
 */
export const trashSubmissions = statement(
  ['workspace_id form_id ids change_ids bulk_id? now', changedByColumns],
  ['count', { status: textEnum<SubmissionStatus>() }],
)`
  with listed as (
    select * from unnest($ids, $change_ids) as listed (id, change_id)),
  locked as (
    select id from submissions
    where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and trashed_at is null
    order by id for update),
  trashed as (
    update submissions s set trashed_at = $now, trashed_by = $changed_by from locked join listed on listed.id = locked.id
    where s.workspace_id = $workspace_id and s.id = locked.id
    returning s.workspace_id, s.id, s.status, listed.change_id),
  documents as (
    delete from search_documents d using trashed
    where d.workspace_id = $workspace_id and d.submission_id = trashed.id),
  freed as (
    delete from taken_answers t using trashed
    where t.workspace_id = $workspace_id and t.submission_id = trashed.id),
  changes as (
    insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
    select workspace_id, id, change_id, 'trashed', $changed_by, $api_key_id, $through, $bulk_id, $now, '[]' from trashed)
  select status, count(*) as count from trashed group by status`;

/** Locks submissions to restore from the trash, in the order of ids, and selects their search data. */
const lockTrashed = statement('workspace_id form_id ids', [
  'id language?',
  {
    status: textEnum<SubmissionStatus>(),
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
  },
])`
  select s.id, s.status, s.answers, s.reference, s.language, v.structure, f.settings
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
    and s.trashed_at is not null and f.deleted_at is null
  order by s.id for update of s`;

/** Restores a submission from the trash, with its search document. */
const restoreSubmission = statement(['workspace_id form_id id', documentColumns], '')`
  with submission as (
    update submissions set trashed_at = null, trashed_by = null
    where workspace_id = $workspace_id and form_id = $form_id and id = $id
    returning workspace_id, id, form_id, status, tags),
  language as (
    insert into search_languages (workspace_id, language) select workspace_id, $language from submission on conflict do nothing),
  ${searchDocumentsSql()},
  document as (
    insert into search_documents (workspace_id, submission_id, form_id, terms)
    select workspace_id, id, form_id, terms from words)
  select`;

/**
 * Moves one submission to the trash. Sends no event: it can be restored, and `submission.deleted` is for
 * permanent deletion (specification, "Event kinds"; docs/decisions/0017).
 * @throws ApiError not_found if it does not exist or is already in the trash; precondition_failed.
 */
export function trashSubmission(
  database: Database,
  { id, by, unchanged, workspaceId, formId }: ChangeTarget,
): Promise<void> {
  return transaction(database, async (client) => {
    const row = { workspace_id: workspaceId, form_id: formId, id };
    await shareFormLock(client, row);
    const found = requireRow(await lockSubmission(client, row));
    requireUnchanged(unchanged, found.updated_at);
    await trashSubmissionsInTransaction(client, { workspaceId, formId }, { ids: [id], by: toChangedBy(by) });
  });
}

/**
 * Moves submissions of a form to the trash, in the caller's transaction. Acquires the shared form lock, so
 * that quotas are not counted in the meantime.
 * @returns the number of submissions moved; those that are deleted or already in the trash are skipped.
 */
export async function trashSubmissionsInTransaction(
  db: Queryable,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: ChangedBy },
): Promise<number> {
  await shareFormLock(db, { workspace_id: key.workspaceId, form_id: key.formId });
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
 * Restores submissions from the trash, with their files. They are counted and found by searches again.
 * @returns the number of submissions restored; those that are not in the form's trash are skipped.
 * @throws ApiError conflict if other submissions used up a quota in the meantime: all stay in the trash.
 */
export function restoreMany(
  database: Database,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: Actor },
): Promise<number> {
  return transaction(database, (client) =>
    restoreSubmissionsInTransaction(client, key, { ids, by: toChangedBy(by) }, async (work) =>
      work().catch(throwQuotaConflict('Nothing was restored')),
    ),
  );
}

/**
 * Restores submissions in the caller's transaction, and acquires the form lock.
 * @param one restores one submission. If the submission exceeds a quota, it can stay in the trash.
 */
export async function restoreSubmissionsInTransaction(
  db: Queryable,
  key: FormKey,
  { ids, by }: { ids: readonly string[]; by: ChangedBy },
  one: (work: () => Promise<void>) => Promise<unknown>,
): Promise<number> {
  const row = { workspace_id: key.workspaceId, form_id: key.formId };
  const limited = await lockQuotas(db, key);
  const restored: SubmissionStatus[] = [];
  for (const { id, structure, settings, ...given } of await lockTrashed(db, { ...row, ids: [...ids] })) {
    const work = async (): Promise<void> => {
      await restoreSubmission(db, { ...row, id, ...buildSearchData(structure, settings, given) });
      if (limited) await updateQuotaUse(db, limited, id);
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

/** A fixed order, so that two transactions cannot deadlock on the counts. */
async function count(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  lines: readonly { status: SubmissionStatus; count: number }[],
  sign: 1 | -1,
): Promise<void> {
  for (const line of lines.toSorted((a, b) => a.status.localeCompare(b.status)))
    await addToSubmissionCount(db, {
      workspace_id: workspaceId,
      form_id: formId,
      status: line.status,
      change: sign * line.count,
    });
}
