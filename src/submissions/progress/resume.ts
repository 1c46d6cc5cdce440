import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { openAnswers, type OpenedAnswers } from '../changes/open-answers.ts';
import { followLink } from '../links.ts';
import type { Answers } from '#ast/answers.ts';
import type { Settings } from '#ast/settings.ts';
import { json, jsonb, statement } from '#kit/statement.ts';
import { formTree } from '#forms/form-rows.ts';

/** What a link to go on leads to, with the version that it was saved under. */
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

/** Answers that were saved, to be gone on with: under the same key, from the step at which they were left. */
type Resumed = OpenedAnswers & {
  submissionId: string;
  key: string;
  step: number;
  reference: Record<string, string>;
  /** In which they were given, as a BCP-47 tag; null where the form named none. */
  language: string | null;
};

/**
 * Opens what a link to go on leads to, on whichever device it is opened.
 * @throws ApiError not_found for a link of another form, one that expired and one that never was; gone when the
 * answers were submitted already.
 */
export async function openResume(database: Database, formId: string, token: string): Promise<Resumed> {
  const { workspaceId, submissionId, step } = await followLink(database, {
    formId,
    token,
    purpose: 'resume',
  });
  const [saved] = await findProgress(database, { workspace_id: workspaceId, id: submissionId });
  if (!saved?.key || !saved.settings.save_progress)
    throw new ApiError('not_found', 'This link leads nowhere, or its time is over.');
  if (saved.is_completed) throw new ApiError('gone', 'These answers were submitted already.');
  const { key, reference, language } = saved;
  return { submissionId, key, step, reference, language, ...openAnswers(saved.structure, saved.answers) };
}
