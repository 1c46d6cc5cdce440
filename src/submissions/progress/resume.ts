import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type OpenedAnswers, openAnswers } from '../changes/open-answers.ts';
import { followLink } from '../links/links.ts';
import { findProgress } from './queries.ts';

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
