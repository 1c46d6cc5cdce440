import { checkAnswers } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import { createEvaluationContext, findFormVersion, type LiveForm } from '#forms/live-form.ts';
import type { Queryable } from '#kit/statement.ts';
import { createEditLink, digestAnswers, editTokenOf } from './submission-record.ts';
import { findSubmissionByKey, type SubmissionStatus } from './submission-rows.ts';
import {
  type AcceptedSubmission,
  DifferentAnswersError,
  type SubmissionReceipt,
  type SubmitRequest,
  type SubmitServices,
} from './submit-request.ts';
import { describeWait, idsOf, statusOfSpam } from './waiting-list.ts';

/**
 * `none`: the key is unused; `other`: the key belongs to other answers; `same`: this repeats the earlier
 * submission.
 */
type Repeat =
  | { kind: 'none' }
  | { kind: 'other'; earlier: SubmissionReceipt }
  | { kind: 'same'; earlier: SubmissionReceipt; isSpam: boolean; status: SubmissionStatus };

/**
 * Finds out whether answers were submitted before, for example by a double click, a reload, or a retry after
 * a lost response. They are compared by the version that was answered, because the form may have changed in
 * between.
 */
export async function findRepeatedSubmit(db: Queryable, request: SubmitRequest): Promise<Repeat> {
  const { live, raw, files, reference, key, work } = request;
  if (key === undefined) return { kind: 'none' };
  const [found] = await findSubmissionByKey(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  if (!found?.completed_at) return { kind: 'none' };
  const earlier = { id: found.id, completedAt: found.completed_at };
  const answered = await readVersion(db, live, found.version);
  const checked =
    answered &&
    checkAnswers(
      answered.form,
      raw,
      files,
      createEvaluationContext(live.settings, reference, work),
      answered.written,
    );
  const isSame =
    checked?.ok &&
    found.key_digest !== null &&
    digestAnswers(checked.answers, answered!.fields).equals(found.key_digest);
  const { is_spam: isSpam, status } = found;
  return isSame ? { kind: 'same', earlier, isSpam, status } : { kind: 'other', earlier };
}

/**
 * Returns the receipt and edit link of the earlier submission with these answers and this key, even if it is
 * in the spam box. Returns undefined if nothing was submitted with the key. Also works after the form has
 * closed.
 * @throws DifferentAnswersError if `refuseOther`.
 */
export async function repeatEarlierResult(
  { database, vault }: Pick<SubmitServices, 'database' | 'vault'>,
  request: SubmitRequest,
  { refuseOther = false } = {},
): Promise<AcceptedSubmission | undefined> {
  const repeat = await findRepeatedSubmit(database, request);
  if (repeat.kind === 'other' && refuseOther) throw new DifferentAnswersError(repeat.earlier);
  if (repeat.kind !== 'same') return undefined;
  const { earlier, isSpam, status } = repeat;
  const editable = { live: request.live, id: earlier.id };
  // The edit link of spam begins to work when a member releases it.
  const link = isSpam
    ? editTokenOf(vault, editable)
    : await createEditLink(database, vault, editable, status);
  const shown = isSpam ? statusOfSpam(request.live.settings) : status;
  const wait = await describeWait(database, idsOf(editable), shown);
  return { ok: true, outcome: 'repeat', submission: earlier, ...link, ...wait };
}

/** Whether any answers were submitted under a key. */
export async function isSubmissionKeyUsed(
  db: Queryable,
  live: Pick<LiveForm, 'workspaceId' | 'id'>,
  key: string,
): Promise<boolean> {
  const [found] = await findSubmissionByKey(db, { workspace_id: live.workspaceId, form_id: live.id, key });
  return found?.completed_at != null;
}

type Fields = Readonly<Record<string, FieldDescription>>;

async function readVersion(
  db: Queryable,
  live: LiveForm,
  version: number,
): Promise<{ form: Form; written?: Form; fields: Fields } | undefined> {
  if (version === live.version) return live;
  const [row] = await findFormVersion(db, { workspace_id: live.workspaceId, form_id: live.id, version });
  return row && { form: effectiveForm(row.structure), fields: row.fields as Fields };
}
