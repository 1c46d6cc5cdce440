import { type AnswerError, type AnswerFiles, type Answers, checkAnswers } from '#ast/answers.ts';
import { searchableText } from '#ast/searchable.ts';
import { claimFiles } from '#files/queries.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { countCompleted, countSlots, insertSubmission, lockFormForSubmit } from './queries.ts';

/** What a visitor sent. Files are received and stored already, by their HTML name; they belong to nobody yet. */
export type SubmitRequest = {
  live: LiveForm;
  raw: unknown;
  files: AnswerFiles;
  reference: Readonly<Record<string, string>>;
};

export type Submitted = { id: string; completedAt: Date };
export type SubmitResult =
  | { ok: true; submission: Submitted }
  | { ok: false; errors: readonly AnswerError[] };

/**
 * Takes a completed submission: checks the answers, then writes the submission, its count, its search text, its
 * claim on the files and its events in one transaction (DESIGN 1.2: when this returns ok, nothing of it is lost).
 * The caller removes the files of a submission that was refused.
 * @throws ApiError gone when the form takes no more submissions, not_found when it was deleted meanwhile, conflict
 * when a file was used meanwhile.
 */
export async function submitAnswers(
  context: { database: Database; wakeQueue: () => void },
  request: SubmitRequest,
): Promise<SubmitResult> {
  const { live, reference } = request;
  const checked = checkAnswers(live.form, request.raw, request.files);
  if (!checked.ok) return checked;
  const { answers } = checked;
  const id = newId();
  const completedAt = timeOfId(id);
  const fileIds = [...request.files.values()].flat().map((file) => file.id);
  const write = (db: Queryable) => writeSubmission(db, { ...request, id, completedAt, answers, fileIds });

  // Without files, webhooks and a maximum there is one statement, which is a transaction of its own.
  if (fileIds.length === 0 && !live.hasWebhooks && live.settings.max_submissions === undefined) {
    await write(context.database);
    return { ok: true, submission: { id, completedAt } };
  }

  const deliveries = await transaction(context.database, async (client) => {
    await refuseOverMaximum(client, live);
    await write(client);
    if (fileIds.length > 0) await claimAll(client, live, id, fileIds);
    if (!live.hasWebhooks) return 0;
    return recordEvent(client, {
      workspaceId: live.workspaceId,
      formId: live.id,
      submissionId: id,
      kind: 'submission.created',
      occurredAt: completedAt,
      snapshot: snapshotOf({
        form: { id: live.id, name: live.name, workspaceId: live.workspaceId },
        submission: { id, submittedAt: completedAt, status: 'completed', reference, answers },
        fields: live.fields,
      }),
    });
  });
  if (deliveries > 0) context.wakeQueue();
  return { ok: true, submission: { id, completedAt } };
}

type Writing = SubmitRequest & {
  id: string;
  completedAt: Date;
  answers: Answers;
  fileIds: readonly string[];
};

async function writeSubmission(
  db: Queryable,
  { live, id, completedAt, answers, reference, fileIds }: Writing,
): Promise<void> {
  const { subject, body } = searchableText(live.form, answers, reference, live.settings.subject_element);
  const inserted = await insertSubmission(db, {
    workspace_id: live.workspaceId,
    id,
    form_id: live.id,
    version: live.version,
    status: 'completed',
    answers: JSON.stringify(answers),
    reference: JSON.stringify(reference),
    has_files: fileIds.length > 0,
    created_at: completedAt,
    completed_at: completedAt,
    slot: Math.floor(Math.random() * countSlots),
    language: live.language,
    subject,
    body,
  });
  if (inserted.length === 0) throw new ApiError('not_found', 'There is no form at this address.');
}

/** Exact under parallel submits: they take turns, each seeing the count of the ones before. */
async function refuseOverMaximum(db: Queryable, live: LiveForm): Promise<void> {
  const maximum = live.settings.max_submissions;
  if (maximum === undefined) return;
  await lockFormForSubmit(db, { form_id: live.id });
  const [count] = await countCompleted(db, { workspace_id: live.workspaceId, form_id: live.id });
  if (count!.completed >= maximum)
    throw new ApiError('gone', 'This form has received all the submissions it takes.');
}

async function claimAll(
  db: Queryable,
  live: LiveForm,
  submissionId: string,
  ids: readonly string[],
): Promise<void> {
  const claimed = await claimFiles(db, {
    workspace_id: live.workspaceId,
    form_id: live.id,
    submission_id: submissionId,
    ids: [...ids],
  });
  if (claimed.length !== ids.length) {
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
  }
}
