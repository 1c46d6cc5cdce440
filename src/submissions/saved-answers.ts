import type { Answers } from '#ast/answers/check-answers.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, type Queryable, statement, textEnum } from '#kit/statement.ts';
import { type EditableAnswers, toEditableAnswers } from './edited-answers.ts';
import { openSubmissionLink } from './links.ts';
import { lockQuotas, updateQuotaUse } from './quotas.ts';
import { requireCapacity, runInFormOrder } from './response-limit.ts';
import {
  claimAllFiles,
  createEditLink,
  digestAnswers,
  documentColumns,
  recordSubmissionCreated,
  releaseFiles,
  type SubmissionRecord,
  searchDocumentsSql,
  storedColumns,
} from './submission-record.ts';
import { moveSubmissionCount, type SubmissionStatus } from './submission-rows.ts';
import type { AcceptedSubmission, SubmitServices } from './submit-request.ts';
import { admitAnswers, describeWait, idsOf } from './waiting-list.ts';

/** The answers that were saved under a key and never submitted. Locked until the transaction ends. */
export const lockSavedAnswers = statement('workspace_id form_id key:uuid', 'id is_trashed')`
  select id, trashed_at is not null as is_trashed from submissions
  where workspace_id = $workspace_id and form_id = $form_id and key = $key and completed_at is null
  for update`;

/**
 * Replaces or completes saved answers; completing them takes them out of the trash. Only answers that were
 * never submitted change (docs/rules.md T4). Searches do not find submissions in the trash, so these have no
 * search text.
 */
export const updateSavedAnswers = statement(
  [
    'workspace_id form_id id version answers:jsonText reference:jsonText respondent:jsonText? has_files',
    'key_digest? now completed_at? form_language:text? verified:jsonText?',
    documentColumns,
    { status: textEnum<SubmissionStatus>() },
  ],
  'id',
)`
  with submission as (
    update submissions
    set version = $version, status = $status, answers = $answers, reference = $reference, respondent = $respondent, has_files = $has_files,
        language = $form_language, verified = $verified, key_digest = $key_digest, completed_at = $completed_at,
        updated_at = greatest($now, updated_at + interval '1 ms'),
        trashed_at = case when $status = 'incomplete' then trashed_at end,
        trashed_by = case when $status = 'incomplete' then trashed_by end
    where workspace_id = $workspace_id and form_id = $form_id and id = $id and completed_at is null
    returning workspace_id, id, form_id, status, tags, trashed_at),
  ${searchDocumentsSql('where trashed_at is null')},
  document as (
    insert into search_documents (workspace_id, submission_id, form_id, terms)
    select workspace_id, id, form_id, terms from words
    on conflict (workspace_id, submission_id) do update set terms = excluded.terms)
  select id from submission`;

/** Selects the given files that already belong to the submission. */
const findSubmissionFiles = statement('workspace_id submission_id ids', 'id')`
  select id from files where workspace_id = $workspace_id and submission_id = $submission_id and id = any ($ids)`;

/**
 * Completes the answers that were saved under the key, in the same row, with event, counts and search text.
 * @returns undefined if no answers are saved under the key.
 * @throws ApiError gone, conflict; QuotaExceeded.
 */
export async function completeSavedAnswers(
  context: SubmitServices,
  record: SubmissionRecord,
): Promise<AcceptedSubmission | undefined> {
  const { live, key } = record;
  if (key === undefined) return undefined;
  const form = { workspace_id: live.workspaceId, form_id: live.id };
  const done = await runInFormOrder(live, () =>
    transaction(context.database, async (client) => {
      if (!(await requireCapacity(client, live, key))) return undefined;
      const limited = await lockQuotas(client, { workspaceId: live.workspaceId, formId: live.id });
      const [saved] = await lockSavedAnswers(client, { ...form, key });
      if (!saved) return undefined;
      const { status, at } = await admitAnswers(client, { ...live, limited }, record.answers, now());
      const completed = { ...record, id: saved.id };
      await updateSavedAnswers(client, {
        ...storedColumns(completed),
        id: saved.id,
        status,
        key_digest: digestAnswers(record.answers, live.fields),
        now: at,
        completed_at: at,
      });
      if (limited) await updateQuotaUse(client, limited, saved.id);
      await updateSubmissionFiles(client, completed);
      // The trash is not counted.
      const from = saved.is_trashed ? undefined : 'incomplete';
      await moveSubmissionCount(client, form, { from, to: status });
      const link = await createEditLink(client, context.vault, completed, status);
      const jobs = await recordSubmissionCreated(client, completed, { status, at });
      const wait = await describeWait(client, idsOf(completed), status);
      return { jobs, submission: { id: saved.id, completedAt: at }, ...link, ...wait };
    }),
  );
  if (!done) return undefined;
  const { jobs, ...accepted } = done;
  if (jobs > 0) context.wakeQueue();
  return { ok: true, outcome: 'draft completed', ...accepted };
}

/** Claims the new files of a submission and releases those that its answers no longer name. */
export async function updateSubmissionFiles(
  db: Queryable,
  record: Pick<SubmissionRecord, 'live' | 'id' | 'fileIds'>,
): Promise<void> {
  const key = { workspace_id: record.live.workspaceId, submission_id: record.id };
  const kept = [...record.fileIds];
  const own = kept.length === 0 ? [] : await findSubmissionFiles(db, { ...key, ids: kept });
  const ownIds = new Set(own.map((file) => file.id));
  await claimAllFiles(
    db,
    record,
    kept.filter((id) => !ownIds.has(id)),
  );
  await releaseFiles(db, { ...key, kept });
}

/** Finds the saved answers for a resume link, with the version they were saved under. */
const findSavedAnswers = statement('workspace_id id', [
  'key:uuid? is_completed:boolean language?',
  {
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
  },
])`
  select s.key, s.answers, s.reference, s.completed_at is not null as is_completed, s.language, v.structure, f.settings
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`;

/** Saved answers to resume, under the same key and from the step at which the visitor left. */
type Resumed = EditableAnswers & {
  submissionId: string;
  key: string;
  step: number;
  reference: Record<string, string>;
  /** The form language that the visitor read, as a BCP 47 tag; null if the form names none. */
  language: string | null;
};

/**
 * Opens a resume link, on any device.
 * @throws ApiError not_found if the link belongs to another form, has expired or never existed; gone if the
 * answers were already submitted.
 */
export async function openResumeLink(database: Database, formId: string, token: string): Promise<Resumed> {
  const { workspaceId, submissionId, step } = await openSubmissionLink(database, {
    formId,
    token,
    purpose: 'resume',
  });
  const [saved] = await findSavedAnswers(database, { workspace_id: workspaceId, id: submissionId });
  if (!saved?.key || !saved.settings.save_progress)
    throw new ApiError('not_found', 'This link is invalid or has expired.');
  if (saved.is_completed) throw new ApiError('gone', 'These answers have already been submitted.');
  const { key, reference, language } = saved;
  return {
    submissionId,
    key,
    step,
    reference,
    language,
    ...toEditableAnswers(saved.structure, saved.answers),
  };
}
