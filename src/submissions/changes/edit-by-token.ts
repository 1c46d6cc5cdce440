import { type AnswerError, type AnswerFiles, type Answers, checkAnswers } from '#ast/answers.ts';
import type { Settings } from '#ast/settings.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import type { Form } from '#ast/tree.ts';
import { formTree } from '#forms/form-rows.ts';
import { answerContext } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, statement } from '#kit/statement.ts';
import { type OpenedAnswers, openAnswers } from '../edited-answers.ts';
import { followLink } from '../links.ts';
import { QuotaExceeded } from '../quotas.ts';
import type { SubmitContext } from '../submit-request.ts';
import { change, type Reference, versionJoin } from './edit.ts';

/** A completed submission whose visitor wants to change it. */
const findEditable = statement(
  'submissions.find_editable',
  'workspace_id id',
  [
    'language? updated_at',
    {
      answers: json<Answers>(),
      reference: json<Reference>(),
      structure: formTree,
      settings: jsonb<Settings>(),
    },
  ],
  `select s.answers, s.reference, s.language, s.updated_at, v.structure, f.settings
   from submissions s
   ${versionJoin}
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.status = 'completed' and s.trashed_at is null and f.deleted_at is null`,
);

/**
 * A submission that its visitor opened to change it. `form` is the version that was answered, which the page shows;
 * `seen` goes back with the changed answers.
 */
export type OpenedEdit = OpenedAnswers & {
  submissionId: string;
  form: Form;
  reference: Record<string, string>;
  /** In which it was answered, as a BCP-47 tag; null where the form named none. */
  language: string | null;
  seen: Date;
};

/**
 * Opens the submission that a link to edit leads to.
 * @throws ApiError not_found for a link of another form, one that expired, one that never was, and while the form has
 * no editing.
 */
export async function openEdit(database: Database, formId: string, token: string): Promise<OpenedEdit> {
  const { form, reference, language, submissionId, answers, updated_at } = await findByToken(
    database,
    formId,
    token,
  );
  return { submissionId, form, reference, language, seen: updated_at, ...openAnswers(form, answers) };
}

/** `seen` is what openEdit gave; without it, changes of somebody else since then are overwritten. */
type TokenEdit = {
  formId: string;
  token: string;
  raw: unknown;
  files: AnswerFiles;
  seen?: Date | undefined;
  /** In which of the form's languages the visitor read it. */
  language?: string | undefined;
};

/**
 * Replaces the answers by those that the visitor sent, checked against the version that was answered, and fires
 * `submission.updated`. Files that are named are kept, or added when they are nobody's yet; those left out are removed.
 * @throws ApiError not_found as openEdit; precondition_failed when it changed since `seen`; conflict when a file was
 * used meanwhile.
 */
export async function editByToken(
  context: SubmitContext,
  { formId, token, raw, files, seen, language }: TokenEdit,
): Promise<{ ok: true; id: string } | { ok: false; errors: readonly AnswerError[] }> {
  const found = await findByToken(context.database, formId, token);
  const rules = answerContext(found.settings, found.reference);
  const checked = checkAnswers(inLanguage(found.form, language), raw, files, rules);
  if (!checked.ok) return checked;
  const id = found.submissionId;
  const unchanged = seen === undefined ? null : [seen];
  const target = { workspaceId: found.workspaceId, formId, id, by: null, unchanged };
  try {
    await change(context, target, (current) => ({ ...current, answers: checked.answers }));
  } catch (error) {
    if (error instanceof QuotaExceeded) return { ok: false, errors: error.problems };
    throw error;
  }
  return { ok: true, id };
}

async function findByToken(database: Database, formId: string, token: string) {
  const { workspaceId, submissionId } = await followLink(database, { formId, token, purpose: 'edit' });
  const [found] = await findEditable(database, { workspace_id: workspaceId, id: submissionId });
  if (!found?.settings.editing)
    throw new ApiError('not_found', 'This link leads nowhere, or its time is over.');
  return { workspaceId, submissionId, form: found.structure, ...found };
}
