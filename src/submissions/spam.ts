import type { Answers } from '#ast/answers/fill.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, nullable, type Queryable, statement, textEnum } from '#kit/statement.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import type { FormKey } from './change-event.ts';
import { listFiles } from './edited-answers.ts';
import { lockQuotas, throwQuotaConflict, updateQuotaUse } from './quotas.ts';
import { isFormFull } from './response-limit.ts';
import { lockSavedAnswers } from './saved-answers.ts';
import {
  createEditLink,
  digestAnswers,
  editTokenOf,
  insertRecord,
  recordSubmissionCreated,
  type SubmissionRecord,
} from './submission-record.ts';
import { addToSubmissionCount, deleteSubmissions, lockFormForSubmit } from './submission-rows.ts';
import type { AcceptedSubmission, SubmitServices } from './submit-request.ts';
import { formatVerified, type VerifiedAddresses } from './verified.ts';
import { admitAnswers, describeWait, idsOf, statusOfSpam } from './waiting-list.ts';

/**
 * Why answers are in the spam box. `honeypot`: a field that people do not see was filled in. `too_fast`: they
 * arrived sooner after the page was opened than the form's `min_seconds`. `no_page`: their key did not come
 * from one of our pages, or they had no key although the form requires proof of work. `no_proof`: the
 * required proof of work is missing. `other_site`: they were sent from a page of a site that is not in the
 * form's `embed_origins`.
 */
export const spamReasons = ['honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site'] as const;
export type SpamReason = (typeof spamReasons)[number];

/** Inserts answers into the spam box. Returns no row if their key was used or the form was deleted. */
const insertSpam = statement(
  [
    'workspace_id id form_id version answers:jsonText reference:jsonText respondent:jsonText? language? key:uuid?',
    'key_digest? address:bytes origin? verified:jsonText? created_at',
    { reason: textEnum<SpamReason>() },
  ],
  'id',
)`
  insert into held_submissions (workspace_id, id, form_id, version, answers, reference, respondent, language, key, key_digest, reason, address, origin, verified, created_at)
  select f.workspace_id, $id, f.id, $version, $answers, $reference, $respondent, $language, $key, $key_digest, $reason, $address, $origin, $verified, $created_at
  from forms f where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
  on conflict (workspace_id, key) where key is not null do nothing
  returning id`;

/** Moves files to the spam box: new files, and files of the answers that were saved under the same key. */
const moveFilesToSpam = statement('workspace_id form_id held_id saved_id? ids', 'id')`
  update files set held_id = $held_id, submission_id = null, claimed_at = now()
  where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
    and (submission_id is null and claimed_at is null or submission_id = $saved_id)
  returning id`;

/**
 * Why answers look like spam, the keyed hash of the sender's address, and the other site whose page sent
 * them.
 */
export type Suspicion = { reason: SpamReason; address: Buffer; origin?: string | undefined };

/**
 * Stores suspicious answers in the spam box. Their sender gets the response for a new submission, or for a waiting
 * one if there is no place: a bot must not learn that it was recognized. Nothing is counted, found or sent to webhooks until a member releases the
 * answers. Answers that were saved under the key are moved too.
 * @returns undefined if the key was used, or the form is deleted.
 * @throws ApiError conflict.
 */
export async function storeSpam(
  context: SubmitServices,
  record: SubmissionRecord,
  suspicion: Suspicion,
): Promise<AcceptedSubmission | undefined> {
  const isNew = await transaction(context.database, (client) => insertIntoSpamBox(client, record, suspicion));
  if (!isNew) return undefined;
  const submission = { id: record.id, completedAt: record.createdAt };
  const wait = await describeWait(context.database, idsOf(record), statusOfSpam(record.live.settings));
  return { ok: true, outcome: 'spam', submission, ...editTokenOf(context.vault, record), ...wait };
}

async function insertIntoSpamBox(
  db: Queryable,
  record: SubmissionRecord,
  { reason, address, origin }: Suspicion,
): Promise<boolean> {
  const { live, id, key, answers, reference, respondent, fileIds } = record;
  const form = { workspace_id: live.workspaceId, form_id: live.id };
  const [saved] = key === undefined ? [] : await lockSavedAnswers(db, { ...form, key });
  const inserted = await insertSpam(db, {
    ...form,
    id,
    version: live.version,
    answers: JSON.stringify(answers),
    reference: JSON.stringify(reference),
    respondent: respondent ? JSON.stringify(respondent) : null,
    language: record.language ?? null,
    key: key ?? null,
    key_digest: key === undefined ? null : digestAnswers(answers, live.fields),
    reason,
    address,
    origin: origin ?? null,
    verified: formatVerified(record.verified, answers),
    created_at: record.createdAt,
  });
  if (inserted.length === 0) return false;
  const files = { ...form, held_id: id, saved_id: saved?.id ?? null, ids: [...fileIds] };
  if (fileIds.length > 0 && (await moveFilesToSpam(db, files)).length !== fileIds.length)
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
  if (saved) {
    await deleteSubmissions(db, { workspace_id: live.workspaceId, ids: [saved.id] });
    if (!saved.is_trashed) await addToSubmissionCount(db, { ...form, status: 'incomplete', change: -1 });
  }
  return true;
}

/** Moves the files of released spam to its submission. */
const moveFilesToSubmission = statement('workspace_id held_id submission_id', '')`
  update files set held_id = null, submission_id = $submission_id
  where workspace_id = $workspace_id and held_id = $held_id`;

/** Locks a spam submission until the transaction ends, and selects it with the answered version. */
const lockSpam = statement('workspace_id form_id id', [
  'version language? key:uuid? name',
  {
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    respondent: nullable(json<Respondent>()),
    structure: effectiveFormColumn,
    fields: json<Record<string, FieldDescription>>(),
    settings: jsonb<Settings>(),
    verified: nullable(json<VerifiedAddresses>()),
  },
])`
  select h.version, h.verified, h.answers, h.reference, h.respondent, h.language, h.key, v.name, v.structure, v.fields, f.settings
  from held_submissions h
  join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
  join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
  where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id and f.deleted_at is null
  for update of h`;

/** Deletes spam permanently; without `ids` all of the form. The sweep removes its files. */
export const deleteSpam = statement('workspace_id form_id ids?', 'id')`
  delete from held_submissions
  where workspace_id = $workspace_id and form_id = $form_id and ($ids is null or id = any ($ids)) returning id`;

/**
 * Releases spam: it becomes a submission with the receipt and time that its visitor got, pinned to the
 * version that was answered, or joins the waiting list. From then on it is counted and found, and
 * `submission.created` is sent once.
 * @returns the number of released submissions; spam that was released or deleted in the meantime is skipped.
 * @throws ApiError conflict if the form has reached its response limit, or a quota is used up; submissions
 * that were already released stay released.
 */
export async function releaseSpam(
  context: SubmitServices,
  key: FormKey,
  ids: readonly string[],
): Promise<number> {
  let released = 0;
  let deliveries = 0;
  try {
    // Oldest first: if the response limit has capacity for some only, the earliest get it.
    for (const id of ids.toSorted()) {
      const created = await transaction(context.database, (client) => releaseOne(client, context, key, id));
      if (created === undefined) continue;
      released += 1;
      deliveries += created;
    }
  } finally {
    if (deliveries > 0) context.wakeQueue();
  }
  return released;
}

/** @returns the number of new deliveries; undefined if the submission no longer exists. */
async function releaseOne(
  db: Queryable,
  { vault }: SubmitServices,
  { workspaceId, formId }: FormKey,
  id: string,
): Promise<number | undefined> {
  const row = { workspace_id: workspaceId, form_id: formId };
  // Locked before quotas, because the response limit may need the lock too.
  await lockFormForSubmit(db, { form_id: formId });
  const limited = await lockQuotas(db, { workspaceId, formId });
  const [spam] = await lockSpam(db, { ...row, id });
  if (!spam) return undefined;
  const { structure: form, settings, answers } = spam;
  const record: SubmissionRecord = {
    live: {
      workspaceId,
      id: formId,
      name: spam.name,
      settings,
      version: spam.version,
      hasListeners: true,
      form,
      fields: spam.fields,
    },
    reference: spam.reference,
    respondent: spam.respondent,
    language: spam.language,
    verified: spam.verified ?? undefined,
    key: spam.key ?? undefined,
    id,
    createdAt: timeOfId(id),
    answers,
    fileIds: listFiles(form, answers).map((file) => file.id),
  };
  if (!settings.waiting_list && (await isFormFull(db, record.live))) {
    const message = `This form has reached its response limit of ${settings.max_submissions}. Raise the limit first.`;
    throw new ApiError('conflict', message);
  }
  // The same page may have been submitted again successfully. In that case both submissions are kept, and the
  // other one keeps the key.
  const { status, at } = await admitAnswers(db, { ...record.live, limited }, answers, record.createdAt);
  const admitted = { ...record, completedAt: at };
  const isNew =
    (await insertRecord(db, admitted, status)) ||
    (await insertRecord(db, { ...admitted, key: undefined }, status));
  if (!isNew) return undefined;
  if (limited)
    await updateQuotaUse(db, limited, id).catch(throwQuotaConflict('This submission cannot be released'));
  await moveFilesToSubmission(db, { workspace_id: workspaceId, held_id: id, submission_id: id });
  await deleteSpam(db, { ...row, ids: [id] });
  await createEditLink(db, vault, record, status);
  return recordSubmissionCreated(db, record, { status, at, occurredAt: now() });
}
