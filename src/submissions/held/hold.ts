import { checkAnswers } from '#ast/answers.ts';
import { answerContext } from '#forms/live-form.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement, word } from '#kit/statement.ts';
import { digestOf } from '../exactly-once/repeat.ts';
import { addToCount, deleteSubmissions } from '../submission-rows.ts';
import { answerRepeat, type SubmitContext, type SubmitRequest, type SubmitResult } from '../submit.ts';
import { editTokenOf, prepareWriting, type Writing } from '../writing.ts';
import type { HoldReason } from './reasons.ts';
import { lockProgress } from '../progress/complete.ts';

/** Lays answers into the spam box. No row: their key was used, or the form was deleted. */
const insertHeld = statement(
  'held.insert_held',
  [
    'workspace_id id form_id version answers:jsonText reference:jsonText language? key:uuid?',
    'key_digest? address:bytes origin? created_at',
    { reason: word<HoldReason>() },
  ],
  'id',
  `insert into held_submissions (workspace_id, id, form_id, version, answers, reference, language, key, key_digest, reason, address, origin, created_at)
   select f.workspace_id, $id, f.id, $version, $answers, $reference, $language, $key, $key_digest, $reason, $address, $origin, $created_at
   from forms f where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
   on conflict (workspace_id, key) where key is not null do nothing
   returning id`,
);

/** Gives the spam box files: new ones, and those of the answers that were saved under the same key. */
const holdFiles = statement(
  'held.hold_files',
  'workspace_id form_id held_id saved_id? ids',
  'id',
  `update files set held_id = $held_id, submission_id = null, claimed_at = now()
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
     and (submission_id is null and claimed_at is null or submission_id = $saved_id)
   returning id`,
);

/** Why answers are held, the keyed hash of the address that they came from, and the other site whose page sent them. */
type Suspicion = { reason: HoldReason; address: Buffer; origin?: string | undefined };

/**
 * Lays suspicious answers into the spam box, and answers as submitAnswers would: a machine must not learn that it was
 * recognised. Nothing counts, is found, or is told to webhooks until they are released (release.ts). Answers that were
 * saved under the key go with them.
 * @throws ApiError not_found, conflict; OtherAnswers.
 */
export async function holdAnswers(
  context: SubmitContext,
  request: SubmitRequest,
  suspicion: Suspicion,
): Promise<SubmitResult> {
  const { live } = request;
  const rules = answerContext(live.settings, request.reference, request.work);
  const checked = checkAnswers(live.form, request.raw, request.files, rules);
  if (!checked.ok) return (await answerRepeat(context, request)) ?? checked;
  const repeated = await answerRepeat(context, request, { refuseOther: true });
  if (repeated) return repeated;
  const writing = prepareWriting(request, checked.answers);
  const isNew = await transaction(context.database, (client) => hold(client, writing, suspicion));
  if (isNew) {
    const { id, createdAt } = writing;
    const editToken = editTokenOf(context.vault, writing);
    const submission = { id, completedAt: createdAt };
    return { ok: true, submission, repeated: false, isHeld: true, ...editToken };
  }
  const meanwhile = await answerRepeat(context, request, { refuseOther: true });
  if (meanwhile) return meanwhile;
  throw new ApiError('not_found', 'There is no form at this address.');
}

async function hold(
  db: Queryable,
  writing: Writing,
  { reason, address, origin }: Suspicion,
): Promise<boolean> {
  const { live, id, key, answers, reference, fileIds } = writing;
  const form = { workspace_id: live.workspaceId, form_id: live.id };
  const [saved] = key === undefined ? [] : await lockProgress(db, { ...form, key });
  const inserted = await insertHeld(db, {
    ...form,
    id,
    version: live.version,
    answers: JSON.stringify(answers),
    reference: JSON.stringify(reference),
    language: writing.language ?? null,
    key: key ?? null,
    key_digest: key === undefined ? null : digestOf(answers, live.fields),
    reason,
    address,
    origin: origin ?? null,
    created_at: writing.createdAt,
  });
  if (inserted.length === 0) return false;
  const files = { ...form, held_id: id, saved_id: saved?.id ?? null, ids: [...fileIds] };
  if (fileIds.length > 0 && (await holdFiles(db, files)).length !== fileIds.length) {
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
  }
  if (saved) {
    await deleteSubmissions(db, { workspace_id: live.workspaceId, ids: [saved.id] });
    if (!saved.is_trashed) await addToCount(db, { ...form, status: 'incomplete', change: -1 });
  }
  return true;
}
