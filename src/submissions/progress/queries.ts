import type { Answers } from '#ast/answers.ts';
import type { Settings } from '#ast/settings.ts';
import { json, jsonb, statement, word } from '#kit/statement.ts';
import { searchWords, type SubmissionStatus } from '../queries.ts';
import { formTree } from '#forms/structure-columns.ts';

/** What was saved under a key and never submitted. Locked until the transaction ends. */
export const lockProgress = statement(
  'progress.lock_progress',
  'workspace_id form_id key:uuid',
  'id is_trashed created_at',
  `select id, trashed_at is not null as is_trashed, created_at from submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key and completed_at is null
   for update`,
);

/**
 * Writes saved answers anew, or for good: completed, they leave the trash. Only what was never submitted changes
 * (docs/rules.md T4). What lies in the trash is not found, so it has no search text.
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

/** Which of these files belong to the submission already. */
export const findOwnFiles = statement(
  'progress.find_own_files',
  'workspace_id submission_id ids',
  'id',
  `select id from files where workspace_id = $workspace_id and submission_id = $submission_id and id = any ($ids)`,
);

/** What a link to go on leads to, with the version that it was saved under. */
export const findProgress = statement(
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
