import { isDeepStrictEqual } from 'node:util';
import { defaultLanguage } from '#ast/languages.ts';
import { searchableText } from '#ast/searchable.ts';
import { isCleanText } from '#ast/text.ts';
import { answerContext } from '#forms/answer-context.ts';
import { newId, now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { differencesOf } from '../history/differences.ts';
import { insertChange } from '../history/queries.ts';
import { addToCount, type SubmissionStatus } from '../queries.ts';
import type { SubmitContext } from '../submit.ts';
import { claimAll, giveEditLink, reportCompletion } from '../writing.ts';
import { checkAskedAnswers, checkEditedAnswers, listFiles } from './edited-answers.ts';
import { eventOf, type FormKey } from './event.ts';
import { lockSubmission, releaseFiles, updateSubmission } from './queries.ts';

export type ChangeContext = { database: Database; wakeQueue: () => void };

/**
 * The submission that changes, and the `updated_at` that its editor saw: two editors do not overwrite each other.
 * `userId` is the member who changes it; absent for whoever has the submission's own link.
 */
export type ChangeTarget = FormKey & { id: string; seen: Date | undefined; userId?: string };

/**
 * Replaces the answers of a submission, checked against the version that it answered.
 * @param raw all answers, as JSON; files by their id (see edited-answers.ts).
 * @returns the questions whose answers are kept although the others hide them.
 * @throws ApiError not_found, precondition_failed, validation_error with the `field` of each problem.
 */
export async function editAnswers(
  context: SubmitContext,
  target: ChangeTarget,
  raw: unknown,
): Promise<{ unasked: readonly string[] }> {
  let unasked: readonly string[] = [];
  await change(context, target, (current) => {
    const checked = checkEditedAnswers(current.structure, {
      raw,
      stored: current.answers,
      status: current.status,
      context: answerContext(current.settings, current.reference),
    });
    if (!checked.ok) throw invalid('The answers are not valid.', checked.errors);
    ({ unasked } = checked);
    return { ...current, answers: checked.answers };
  });
  return { unasked };
}

/**
 * Replaces the reference data of a submission.
 * @throws ApiError not_found, precondition_failed, validation_error.
 */
export async function editReference(
  context: SubmitContext,
  target: ChangeTarget,
  reference: Record<string, string>,
): Promise<void> {
  const unclean = Object.entries(reference).filter((entry) => !entry.every(isCleanText));
  if (unclean.length > 0) {
    const message = 'Remove the characters that cannot be stored (NUL, half a surrogate pair).';
    throw invalid(
      message,
      unclean.map(([key]) => ({ field: key, message })),
    );
  }
  return change(context, target, (current) => ({ ...current, reference }));
}

/**
 * Changes the status. Whatever becomes completed answers every required question. The time of the first completion
 * stays, also when the submission becomes incomplete again (docs/rules.md 4).
 * @throws ApiError not_found, precondition_failed, validation_error.
 */
export function changeStatus(
  context: SubmitContext,
  target: ChangeTarget,
  status: SubmissionStatus,
): Promise<void> {
  return change(context, target, (current) => {
    if (status === 'incomplete' || status === current.status) return { ...current, status };
    const checked = checkAskedAnswers(current.structure, {
      raw: current.answers,
      stored: current.answers,
      status,
      context: answerContext(current.settings, current.reference),
    });
    if (!checked.ok) throw invalid('It cannot be completed before its answers are valid.', checked.errors);
    return { ...current, status, completed_at: current.completed_at ?? now() };
  });
}

const invalid = (message: string, errors: readonly ErrorItem[]) =>
  new ApiError('validation_error', message, { errors });

type Current = Awaited<ReturnType<typeof lockSubmission>>[number];

/**
 * The one way in which a submission changes: locked, compared with what its editor saw, written with its search
 * text, counts, files and event in one transaction. A change that changes nothing writes and tells nothing.
 */
export async function change(
  context: SubmitContext,
  target: ChangeTarget,
  apply: (current: Current) => Current,
): Promise<void> {
  const { workspaceId, formId, id, seen } = target;
  const deliveries = await transaction(context.database, async (client) => {
    const [before] = await lockSubmission(client, { workspace_id: workspaceId, form_id: formId, id });
    if (!before) throw new ApiError('not_found');
    if (seen !== undefined && before.updated_at.getTime() !== seen.getTime()) {
      throw new ApiError('precondition_failed', 'This submission has changed since you opened it.');
    }
    const after = apply(before);
    if (isDeepStrictEqual(after, before)) return 0;
    await write(client, target, before, after);
    return tell(client, context.vault, target, before, after);
  });
  if (deliveries > 0) context.wakeQueue();
}

async function write(db: Queryable, target: ChangeTarget, before: Current, after: Current): Promise<void> {
  const key = { workspace_id: target.workspaceId, form_id: target.formId };
  const { structure, answers, reference, settings } = after;
  const files = listFiles(structure, answers).map((file) => file.id);
  // Later than before also within a millisecond, as editors compare it.
  const changedAt = new Date(Math.max(now().getTime(), before.updated_at.getTime() + 1));
  await updateSubmission(db, {
    ...key,
    id: after.id,
    status: after.status,
    answers: JSON.stringify(answers),
    reference: JSON.stringify(reference),
    has_files: files.length > 0,
    completed_at: after.completed_at,
    updated_at: changedAt,
    language: settings.language ?? defaultLanguage,
    ...searchableText(structure, answers, reference, settings.subject_element),
  });
  await insertChange(db, {
    workspace_id: target.workspaceId,
    submission_id: after.id,
    id: newId(),
    kind: 'edited',
    changed_by: target.userId ?? null,
    through: target.userId === undefined ? 'link' : 'console',
    changed_at: changedAt,
    changes: JSON.stringify(differencesOf(before, after)),
  });
  await changeFiles(
    db,
    target,
    listFiles(structure, before.answers).map((file) => file.id),
    files,
  );
  if (before.status === after.status) return;
  // Always in this order, so that two changes in opposite directions cannot wait for each other.
  for (const status of ['completed', 'incomplete'] as const) {
    await addToCount(db, { ...key, status, slot: 0, change: status === after.status ? 1 : -1 });
  }
}

/** Claims files that are new, and lets go of those that are not there any more. */
async function changeFiles(
  db: Queryable,
  { workspaceId, formId, id }: ChangeTarget,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const added = after.filter((file) => !before.includes(file));
  if (added.length > 0) {
    const live = { workspaceId, id: formId };
    await claimAll(db, { live, id }, added);
  }
  if (before.some((file) => !after.includes(file))) {
    await releaseFiles(db, { workspace_id: workspaceId, submission_id: id, kept: [...after] });
  }
}

/**
 * docs/rules.md 4: created at the first completion, updated ever after, nothing before. Whoever completes it, the first
 * one is mailed about as one that was submitted, and the link in the receipt works.
 */
async function tell(
  db: Queryable,
  vault: Vault,
  { workspaceId, formId }: ChangeTarget,
  before: Current,
  after: Current,
): Promise<number> {
  if (after.completed_at === null) return 0;
  const isFirst = before.completed_at === null;
  const kind = isFirst ? 'submission.created' : 'submission.updated';
  const deliveries = await recordEvent(db, {
    workspaceId,
    formId,
    ...eventOf(kind, { workspaceId, formId }, after),
  });
  if (!isFirst) return deliveries;
  const completed = { live: { workspaceId, id: formId, settings: after.settings }, id: after.id };
  await giveEditLink(db, vault, completed);
  return deliveries + (await reportCompletion(db, completed));
}
