import type { Answers } from '#ast/answers/check-answers.ts';
import type { Settings } from '#ast/settings.ts';
import { formTree } from '#forms/form-rows.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, type Queryable, statement, word } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { type OpenedAnswers, openAnswers } from '../changes/edited-answers.ts';
import { releaseFiles } from '../changes/release-files.ts';
import { digestOf, type Submitted } from '../exactly-once/repeat.ts';
import { takePlace } from '../exactly-once.ts';
import { followLink } from '../links.ts';
import { addToCount, type SubmissionStatus } from '../submission-rows.ts';
import { takeAnswers, takeTurn } from '../taken/take.ts';
import { claimAll, giveEditLink, searchWords, storedColumns, tellCreated, type Writing } from '../writing.ts';

/** Locks the saved answers of a key until the transaction ends, if they were never submitted. */
export const lockProgress = statement(
  'progress.lock_progress',
  'workspace_id form_id key:uuid',
  'id is_trashed created_at',
  `select id, trashed_at is not null as is_trashed, created_at from submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key and completed_at is null
   for update`,
);

/**
 * Updates or completes saved answers; completion removes them from the trash. Only answers that were never
 * submitted change (docs/rules.md T4). Answers in the trash are not searchable, so they have no search
 * document.
 */
export const writeProgress = statement(
  'progress.write_progress',
  [
    'workspace_id form_id id version answers:jsonText reference:jsonText has_files',
    'key_digest? now completed_at? spoken:text? language subject body',
    { status: word<SubmissionStatus>() },
  ],
  'id',
  `with submission as (
     update submissions
     set version = $version, status = $status, answers = $answers, reference = $reference, has_files = $has_files,
         language = $spoken, key_digest = $key_digest, completed_at = $completed_at,
         updated_at = greatest($now, updated_at + interval '1 ms'),
         trashed_at = case when $status = 'completed' then null else trashed_at end,
         trashed_by = case when $status = 'completed' then null else trashed_by end
     where workspace_id = $workspace_id and form_id = $form_id and id = $id and completed_at is null
     returning workspace_id, id, form_id, status, tags, trashed_at),
   ${searchWords('where trashed_at is null')},
   document as (
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select workspace_id, id, form_id, terms from words
     on conflict (workspace_id, submission_id) do update set terms = excluded.terms)
   select id from submission`,
);

/** Selects those of the files that already belong to the submission. */
const findOwnFiles = statement(
  'progress.find_own_files',
  'workspace_id submission_id ids',
  'id',
  `select id from files where workspace_id = $workspace_id and submission_id = $submission_id and id = any ($ids)`,
);

/**
 * Turns the saved answers of a key into the completed submission, in the existing row, with its event, counts
 * and search document. Undefined if no saved answers have the key.
 * @throws ApiError gone, conflict; AnswersTaken.
 */
export async function completeProgress(
  context: { database: Database; vault: Vault; wakeQueue: () => void },
  writing: Writing & { key: string },
): Promise<{ submission: Submitted; editToken?: string } | undefined> {
  const { live, key } = writing;
  const form = { workspace_id: live.workspaceId, form_id: live.id };
  const done = await transaction(context.database, async (client) => {
    if (!(await takePlace(client, live, key))) return undefined;
    const limited = await takeTurn(client, { workspaceId: live.workspaceId, formId: live.id });
    const [saved] = await lockProgress(client, { ...form, key });
    if (!saved) return undefined;
    const completedAt = now();
    const completed = { ...writing, id: saved.id };
    await writeProgress(client, {
      ...storedColumns(completed),
      id: saved.id,
      status: 'completed',
      key_digest: digestOf(writing.answers, live.fields),
      now: completedAt,
      completed_at: completedAt,
    });
    if (limited) await takeAnswers(client, limited, saved.id);
    await keepFiles(client, completed);
    // The order in which all changes update both counts. Answers in the trash were not counted.
    await addToCount(client, { ...form, status: 'completed', change: 1 });
    if (!saved.is_trashed) await addToCount(client, { ...form, status: 'incomplete', change: -1 });
    const link = await giveEditLink(client, context.vault, completed);
    const deliveries = await tellCreated(client, completed, completedAt);
    return { submission: { id: saved.id, completedAt }, link, deliveries };
  });
  if (!done) return undefined;
  if (done.deliveries > 0) context.wakeQueue();
  return { submission: done.submission, ...done.link };
}

/** Gives the submission exactly the files of its answers: claims new ones, and releases removed ones. */
export async function keepFiles(
  db: Queryable,
  writing: Pick<Writing, 'live' | 'id' | 'fileIds'>,
): Promise<void> {
  const key = { workspace_id: writing.live.workspaceId, submission_id: writing.id };
  const kept = [...writing.fileIds];
  const own = kept.length === 0 ? [] : await findOwnFiles(db, { ...key, ids: kept });
  const ownIds = new Set(own.map((file) => file.id));
  await claimAll(
    db,
    writing,
    kept.filter((id) => !ownIds.has(id)),
  );
  await releaseFiles(db, { ...key, kept });
}

/** Selects the saved answers of a resume link, with the version under which they were saved. */
const findProgress = statement(
  'progress.find_progress',
  'workspace_id id',
  [
    'key:uuid? is_completed:boolean language?',
    {
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      structure: formTree,
      settings: jsonb<Settings>(),
    },
  ],
  `select s.key, s.answers, s.reference, s.completed_at is not null as is_completed, s.language, v.structure, f.settings
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`,
);

/** Saved answers to resume: under the same key, at the step where the visitor left. */
type Resumed = OpenedAnswers & {
  submissionId: string;
  key: string;
  step: number;
  reference: Record<string, string>;
  /** The language of the answers, as a BCP-47 tag; null if the form has no language. */
  language: string | null;
};

/**
 * Opens the saved answers of a resume link, on any device.
 * @throws ApiError not_found for an unknown or expired link, and a link of another form; gone if the answers
 * were already submitted.
 */
export async function openResume(database: Database, formId: string, token: string): Promise<Resumed> {
  const { workspaceId, submissionId, step } = await followLink(database, {
    formId,
    token,
    purpose: 'resume',
  });
  const [saved] = await findProgress(database, { workspace_id: workspaceId, id: submissionId });
  if (!saved?.key || !saved.settings.save_progress)
    throw new ApiError('not_found', 'This link is invalid or has expired.');
  if (saved.is_completed) throw new ApiError('gone', 'These answers have already been submitted.');
  const { key, reference, language } = saved;
  return { submissionId, key, step, reference, language, ...openAnswers(saved.structure, saved.answers) };
}
