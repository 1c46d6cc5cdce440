import type { Answers } from '#ast/answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { editDaysOf } from '#ast/settings.ts';
import { claimFiles } from '#files/queries.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { leastIdAt, newId, now, timeOfId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { reportNews } from '#workspaces/mail-news.ts';
import { listFiles } from './changes/edited-answers.ts';
import { digestOf, type KeyedRequest } from './exactly-once/repeat.ts';
import { giveLink } from './links/links.ts';
import { linkToken } from './links/token.ts';
import {
  insertKeyedSubmission,
  insertSubmission,
  openNextSegment,
  type SubmissionStatus,
} from './queries.ts';
import { searchColumns } from './search-columns.ts';

/** The share of submissions with which it is looked whether the newest segment of the search index is full: that takes some ms. */
const segmentCheckShare = 1 / 512;
/**
 * A segment begins this much later than it is opened. Every submit whose id lies in it then knows it, in each process
 * whose clock is less apart.
 */
const segmentLeadMs = 10_000;

/** The version of a form that answers are written under, and the settings that they are written by. */
type WritingForm = Pick<
  LiveForm,
  'workspaceId' | 'id' | 'name' | 'settings' | 'version' | 'hasListeners' | 'form' | 'written' | 'fields'
>;

/** Checked answers on their way into the database, with the id that they get when they are new there. */
export type Writing = Pick<KeyedRequest, 'reference' | 'key' | 'locale'> & {
  language?: string | null | undefined;
  live: WritingForm;
  id: string;
  createdAt: Date;
  /** When it was completed, where that is later than its creation. */
  completedAt?: Date;
  answers: Answers;
  fileIds: readonly string[];
  /** Whether it is looked with this one whether the newest segment of the search index is full. */
  opensSegment?: boolean;
};

export function prepareWriting(
  { live, reference, key, locale, language, files }: Omit<KeyedRequest, 'raw'>,
  answers: Answers,
): Writing {
  const id = newId();
  // Not all that was uploaded: the files of a question that is not shown stay nobody's, and are swept.
  const fileIds = files.size === 0 ? [] : listFiles(live.form, answers).map((file) => file.id);
  const createdAt = timeOfId(id);
  const stamped = stampConsents(live.form, answers, { version: live.version, at: createdAt });
  const opensSegment = Math.random() < segmentCheckShare;
  return { live, reference, key, locale, language, id, createdAt, answers: stamped, fileIds, opensSegment };
}

/** The columns that hold what was sent. */
export const storedColumns = ({ live, answers, reference, fileIds, language = null }: Writing) => ({
  workspace_id: live.workspaceId,
  form_id: live.id,
  version: live.version,
  answers: JSON.stringify(answers),
  reference: JSON.stringify(reference),
  has_files: fileIds.length > 0,
  spoken: language,
  ...searchColumns(live.written ?? live.form, live.settings, { answers, reference, language }),
});

/**
 * Writes a submission, its count and its search document; in a transaction where it `opensSegment`.
 * @param liveVersion which version of its form has to be live; null: any.
 * @returns whether it is new: its key was not used, and its form is there, in this version.
 */
export async function insertWriting(
  db: Queryable,
  writing: Writing,
  status: SubmissionStatus,
  liveVersion: number | null = null,
): Promise<boolean> {
  const { live, id, createdAt, completedAt = createdAt, answers, key } = writing;
  const isCompleted = status === 'completed';
  const row = {
    ...storedColumns(writing),
    id,
    live_version: liveVersion,
    status,
    created_at: createdAt,
    completed_at: isCompleted ? completedAt : null,
  };
  const inserted =
    key === undefined
      ? await insertSubmission(db, row)
      : await insertKeyedSubmission(db, {
          ...row,
          key,
          key_digest: isCompleted ? digestOf(answers, live.fields) : null,
        });
  if (inserted.length === 0) return false;
  if (writing.opensSegment) {
    const first_id = leastIdAt(new Date(now().getTime() + segmentLeadMs));
    await openNextSegment(db, { workspace_id: live.workspaceId, first_id });
  }
  return true;
}

/** Gives a submission files that are nobody's yet. @throws ApiError conflict when a file is another submission's, or was swept. */
export async function claimAll(
  db: Queryable,
  { live, id }: { live: Pick<LiveForm, 'workspaceId' | 'id'>; id: string },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const claimed = await claimFiles(db, {
    workspace_id: live.workspaceId,
    form_id: live.id,
    submission_id: id,
    ids: [...ids],
  });
  if (claimed.length !== ids.length) {
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
  }
}

/** Whether somebody is told by mail of what is submitted to a form. */
export const isMailedAbout = (settings: LiveForm['settings']): boolean =>
  settings.notification_email !== undefined ||
  settings.receipt_email_element !== undefined ||
  settings.notifications !== undefined;

/** Leaves word of a first completion for the mails about it: to the form's people, and a receipt. @returns how many jobs that makes. */
export async function reportCompletion(
  db: Queryable,
  { live, id, locale }: Editable & Pick<Writing, 'locale'>,
): Promise<number> {
  if (!isMailedAbout(live.settings)) return 0;
  await reportNews(db, live.workspaceId, { kind: 'submission_completed', submissionId: id, locale });
  return 1;
}

/** Tells webhooks and people of a new completed submission. @returns how many jobs that makes. */
export async function tellCreated(
  db: Queryable,
  writing: Writing,
  completedAt: Date,
  occurredAt = completedAt,
): Promise<number> {
  const { live, id, answers, reference } = writing;
  const mails = await reportCompletion(db, writing);
  if (!live.hasListeners) return mails;
  const deliveries = await recordEvent(db, {
    workspaceId: live.workspaceId,
    formId: live.id,
    submissionId: id,
    kind: 'submission.created',
    occurredAt,
    fields: live.fields,
    snapshot: snapshotOf({
      form: { id: live.id, name: live.name, workspaceId: live.workspaceId },
      submission: { id, submittedAt: completedAt, status: 'completed', reference, answers },
      fields: live.fields,
    }),
  });
  return deliveries + mails;
}

/** Where a link to edit is asked for: the form as it is set, and the submission's id. */
type Editable = Pick<Writing, 'id'> & { live: Pick<LiveForm, 'workspaceId' | 'id' | 'settings'> };

/** The token of the address under which the visitor may change a submission, where the form allows that. */
export const editTokenOf = (vault: Vault, { live, id }: Editable): { editToken?: string } =>
  live.settings.editing
    ? { editToken: linkToken(vault, 'edit', { workspaceId: live.workspaceId, formId: live.id, id }) }
    : {};

/** The same, and from now on it leads there. */
export async function giveEditLink(
  db: Queryable,
  vault: Vault,
  { live, id }: Editable,
): Promise<{ editToken?: string }> {
  if (!live.settings.editing) return {};
  const days = editDaysOf(live.settings);
  const linked = { workspaceId: live.workspaceId, formId: live.id, submissionId: id };
  return { editToken: (await giveLink(db, vault, linked, { purpose: 'edit', days })).token };
}
