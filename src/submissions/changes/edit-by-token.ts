import {
  type AnswerError,
  type AnswerFiles,
  type Answers,
  checkAnswers,
} from '#ast/answers/check-answers.ts';
import type { Form } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, statement, textEnum } from '#kit/statement.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import { toChangedBy } from '../differences.ts';
import { type EditableAnswers, toEditableAnswers } from '../edited-answers.ts';
import { openSubmissionLink } from '../links.ts';
import { QuotaExceeded } from '../quotas.ts';
import { hasVisitorLink } from '../submission-record.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import type { SubmitServices } from '../submit-request.ts';
import { findUnverified, type VerifiedAddresses } from '../verified.ts';
import { describeWait } from '../waiting-list.ts';
import { applyChange, type ReferenceData, versionJoin } from './edit.ts';
import { trashSubmissionsInTransaction } from './trash.ts';

type Editable = { settings: Settings; status: SubmissionStatus };

/** Selects a completed or waiting submission that its visitor wants to edit. */
const findEditable = statement('workspace_id id', [
  'language? updated_at',
  {
    answers: json<Answers>(),
    reference: json<ReferenceData>(),
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
    status: textEnum<SubmissionStatus>(),
  },
])`
  select s.status, s.answers, s.reference, s.language, s.updated_at, v.structure, f.settings
  from submissions s
  ${versionJoin}
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.id = $id and s.status <> 'incomplete' and s.trashed_at is null and f.deleted_at is null`;

/**
 * A submission that its visitor opened for editing. `form` is the version that was answered, which the page
 * shows; `seen` is sent back with the edited answers.
 */
export type OpenedEdit = EditableAnswers & {
  submissionId: string;
  form: Form;
  reference: Record<string, string>;
  /** The language of the answers, as a BCP 47 tag; null if the form has no language. */
  language: string | null;
  seen: Date;
};

/**
 * Opens the submission of an edit link.
 * @throws ApiError not_found if the link is unknown, has expired or belongs to another form, or if the form
 * does not allow editing.
 */
export async function openEditLink(database: Database, formId: string, token: string): Promise<OpenedEdit> {
  const { form, reference, language, submissionId, answers, updated_at } = await findByToken(
    database,
    formId,
    token,
  );
  return { submissionId, form, reference, language, seen: updated_at, ...toEditableAnswers(form, answers) };
}

/** `seen` comes from openEdit. Without it, later changes by others are overwritten. */
type TokenEdit = {
  formId: string;
  token: string;
  raw: unknown;
  files: AnswerFiles;
  seen?: Date | undefined;
  /** The form language that the visitor read. */
  language?: string | undefined;
  /** The addresses that the visitor verified for this edit. Unchanged addresses need no verification. */
  verified?: VerifiedAddresses;
};

/**
 * Replaces the answers with those that the visitor sent, checked against the version that was answered, and
 * sends `submission.updated`. Named files are kept, or added if no submission owns them; omitted files are
 * removed.
 * @throws ApiError not_found, like openEdit; precondition_failed if the submission changed since `seen`;
 * conflict if a file was used in the meantime.
 */
export async function editByToken(
  context: SubmitServices,
  { formId, token, raw, files, seen, language, verified = {} }: TokenEdit,
): Promise<{ ok: true; id: string } | { ok: false; errors: readonly AnswerError[] }> {
  const found = await findByToken(context.database, formId, token);
  const rules = createEvaluationContext(found.settings, found.reference);
  const checked = checkAnswers(formInLanguage(found.form, language), raw, files, rules);
  if (!checked.ok) return checked;
  const unverified = findUnverified(found.form, checked.answers, verified, found.answers);
  if (unverified.length > 0) return { ok: false, errors: unverified };
  const id = found.submissionId;
  const unchanged = seen === undefined ? null : [seen];
  const target = { workspaceId: found.workspaceId, formId, id, by: null, unchanged };
  try {
    await applyChange(context, target, (current) => ({
      ...current,
      answers: checked.answers,
      verified: { ...current.verified, ...verified },
    }));
  } catch (error) {
    if (error instanceof QuotaExceeded) return { ok: false, errors: error.problems };
    throw error;
  }
  return { ok: true, id };
}

async function findByToken(
  database: Database,
  formId: string,
  token: string,
  mayUse = ({ settings: { editing } }: Editable): boolean => editing === true,
) {
  const { workspaceId, submissionId } = await openSubmissionLink(database, {
    formId,
    token,
    purpose: 'edit',
  });
  const [found] = await findEditable(database, { workspace_id: workspaceId, id: submissionId });
  if (!found || !mayUse(found)) throw new ApiError('not_found', 'This link is invalid or has expired.');
  return { workspaceId, submissionId, form: found.structure, ...found };
}

/**
 * Finds the submission that the visitor of a link can cancel, with its position if it is waiting. A waiting one can be
 * cancelled even if the form no longer has a waiting list.
 * @throws ApiError not_found.
 */
export async function openCancellation(database: Database, formId: string, token: string) {
  const found = await findByToken(
    database,
    formId,
    token,
    ({ settings, status }) => status === 'waiting' || hasVisitorLink(settings),
  );
  const place = { workspaceId: found.workspaceId, formId, id: found.submissionId };
  return { ...place, language: found.language, ...(await describeWait(database, place, found.status)) };
}

/** An invitation stays answered, so that the person gets no reminders. */
const freeKey = statement('workspace_id id', '')`
  update submissions s set key = null, key_digest = null
  where s.workspace_id = $workspace_id and s.id = $id
    and not exists (select from invitations i where i.workspace_id = s.workspace_id and i.id = s.key)`;

/**
 * Moves the submission of a link to the trash, which frees its place, and notifies the form's addresses. A
 * person who can respond once can then respond again.
 * @throws ApiError not_found.
 */
export async function cancelByToken(
  { database }: Pick<SubmitServices, 'database'>,
  formId: string,
  token: string,
): Promise<{ id: string }> {
  const { workspaceId, id } = await openCancellation(database, formId, token);
  const by = toChangedBy(null);
  await transaction(database, async (client) => {
    const trashed = await trashSubmissionsInTransaction(client, { workspaceId, formId }, { ids: [id], by });
    if (trashed === 0) throw new ApiError('not_found', 'This link is invalid or has expired.');
    await freeKey(client, { workspace_id: workspaceId, id });
    await enqueueEmailEvent(client, workspaceId, { kind: 'submission_cancelled', submissionId: id });
  });
  return { id };
}
