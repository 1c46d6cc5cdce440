import { answerContext } from '#forms/answer-context.ts';
import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { findRepeat } from '../exactly-once/repeat.ts';
import { giveLink } from '../links/links.ts';
import type { SubmitContext, SubmitRequest } from '../submit.ts';
import { insertWriting, prepareWriting, storedColumns, type Writing } from '../writing.ts';
import { keepFiles, lockProgress, writeProgress } from './complete.ts';
import { keepAnswers } from './kept-answers.ts';

/** For how many days after the last save a link to go on works, unless the form says otherwise. */
const defaultResumeDays = 30;

/** What is saved; `step` is where the visitor is, from 0. */
type ProgressRequest = SubmitRequest & { key: string; step: number };

/** Where the visitor goes on: `/f/<form>/resume/<resumeToken>`, until `expiresAt`. */
export type SavedProgress = { id: string; resumeToken: string; expiresAt: Date };

/**
 * Keeps answers that are not submitted yet, as the one submission of status `incomplete` under the key: another save
 * replaces it, and submitting completes it. Answers without the shape or the size of an answer are left out (see
 * keepAnswers). No event tells of it. Files are claimed: they are not swept, and go when an answer leaves them out.
 * @throws ApiError forbidden where the form keeps no progress; conflict when the key was submitted, or a file used;
 * not_found.
 */
export async function saveProgress(context: SubmitContext, request: ProgressRequest): Promise<SavedProgress> {
  const { live, key, step } = request;
  if (!live.settings.save_progress)
    throw new ApiError('forbidden', 'This form does not keep unfinished answers.');
  const rules = answerContext(live.settings, request.reference, request.work);
  const answers = keepAnswers(live.form, request.raw, request.files, rules);
  const writing = prepareWriting(request, answers);
  const saved = await transaction(context.database, async (client) => {
    const id = await write(client, writing, key);
    if (id === undefined) return undefined;
    await keepFiles(client, { ...writing, id });
    const { token, expiresAt } = await giveLink(
      client,
      context.vault,
      { workspaceId: live.workspaceId, formId: live.id, submissionId: id },
      { purpose: 'resume', days: live.settings.resume_days ?? defaultResumeDays, step },
    );
    return { id, resumeToken: token, expiresAt };
  });
  if (saved) return saved;
  const { kind } = await findRepeat(context.database, request);
  if (kind === 'none') throw new ApiError('not_found', 'There is no form at this address.');
  throw new ApiError('conflict', 'These answers were submitted already.');
}

/** @returns the id of what is saved under the key now; undefined when the key was submitted, or the form is gone. */
async function write(db: Queryable, writing: Writing, key: string): Promise<string | undefined> {
  const { live } = writing;
  if (await insertWriting(db, writing, 'incomplete')) return writing.id;
  const [saved] = await lockProgress(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  if (!saved) return undefined;
  await writeProgress(db, {
    ...storedColumns(writing),
    id: saved.id,
    status: 'incomplete',
    key_digest: null,
    now: now(),
    completed_at: null,
  });
  return saved.id;
}
