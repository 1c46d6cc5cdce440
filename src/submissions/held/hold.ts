import { type Answers, checkAnswers } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { formTree } from '#forms/form-rows.ts';
import { answerContext } from '#forms/live-form.ts';
import { now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, type Queryable, statement, word } from '#kit/statement.ts';
import { listFiles } from '../changes/edited-answers.ts';
import type { FormKey } from '../changes/event.ts';
import { digestOf } from '../exactly-once/repeat.ts';
import { lookForPlace } from '../exactly-once.ts';
import { lockProgress } from '../progress/complete.ts';
import { addToCount, deleteSubmissions, lockFormForSubmit } from '../submission-rows.ts';
import { answerRepeat, type SubmitContext, type SubmitRequest, type SubmitResult } from '../submit.ts';
import { refuseTaken, takeAnswers, takeTurn } from '../taken/take.ts';
import {
  editTokenOf,
  giveEditLink,
  insertWriting,
  prepareWriting,
  tellCreated,
  type Writing,
} from '../writing.ts';

/**
 * Why answers were held in the spam box:
 * `honeypot`: the field that people do not see was filled in; `too_fast`: sooner after the page than the form's
 * `min_seconds`; `no_page`: with a key that no page of ours gave, or without any where the form asks for work; `no_proof`:
 * without the work that the form asks of browsers; `other_site`: by a page of a site that the form's `embed_origins`
 * does not name.
 */
export const holdReasons = ['honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site'] as const;
export type HoldReason = (typeof holdReasons)[number];

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

/** Files that the spam box lets go of go over to the submission that was released. */
const giveHeldFiles = statement(
  'held.give_held_files',
  'workspace_id held_id submission_id',
  '',
  `update files set held_id = null, submission_id = $submission_id
   where workspace_id = $workspace_id and held_id = $held_id`,
);

/** One of the spam box with the version that it answered, to be released. Locked until the transaction ends. */
const lockHeld = statement(
  'held.lock_held',
  'workspace_id form_id id',
  [
    'version language? key:uuid? name',
    {
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      structure: formTree,
      fields: json<Record<string, FieldDescription>>(),
      settings: jsonb<Settings>(),
    },
  ],
  `select h.version, h.answers, h.reference, h.language, h.key, v.name, v.structure, v.fields, f.settings
   from held_submissions h
   join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
   join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
   where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id and f.deleted_at is null
   for update of h`,
);

/** For good; without `ids` all of the form. Their files become orphans, which the sweep removes. */
export const deleteHeld = statement(
  'held.delete_held',
  'workspace_id form_id ids?',
  'id',
  `delete from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and ($ids is null or id = any ($ids)) returning id`,
);

/**
 * Not spam: what was held becomes a submission under the receipt and with the time that its visitor was given, pinned
 * to the version that it answered. It counts and is found from now on, and `submission.created` is fired, once.
 * @returns how many; what is gone by now is skipped, since somebody else has decided.
 * @throws ApiError conflict when the form has its maximum, or others took the answer; those before are released.
 */
export async function releaseHeld(
  context: SubmitContext,
  key: FormKey,
  ids: readonly string[],
): Promise<number> {
  let released = 0;
  let deliveries = 0;
  try {
    // Oldest first: the places of a form with a maximum go to who came first.
    for (const id of ids.toSorted()) {
      const made = await transaction(context.database, (client) => releaseOne(client, context, key, id));
      if (made === undefined) continue;
      released += 1;
      deliveries += made;
    }
  } finally {
    if (deliveries > 0) context.wakeQueue();
  }
  return released;
}

/** @returns how many deliveries will be made; undefined when it is gone. */
async function releaseOne(
  db: Queryable,
  { vault }: SubmitContext,
  { workspaceId, formId }: FormKey,
  id: string,
): Promise<number | undefined> {
  const row = { workspace_id: workspaceId, form_id: formId };
  // Alone from the beginning: its turn may be needed for the maximum too.
  await lockFormForSubmit(db, { form_id: formId });
  const limited = await takeTurn(db, { workspaceId, formId });
  const [held] = await lockHeld(db, { ...row, id });
  if (!held) return undefined;
  const { structure: form, settings, answers } = held;
  const writing: Writing = {
    live: {
      workspaceId,
      id: formId,
      name: held.name,
      settings,
      version: held.version,
      hasListeners: true,
      form,
      fields: held.fields,
    },
    reference: held.reference,
    language: held.language,
    key: held.key ?? undefined,
    id,
    createdAt: timeOfId(id),
    answers,
    fileIds: listFiles(form, answers).map((file) => file.id),
  };
  // What is held has no place of its own, so its key is not asked for.
  if ((await lookForPlace(db, writing.live, undefined)) === 'full') {
    const message = `This form has its maximum of ${settings.max_submissions} submissions. Raise the maximum first.`;
    throw new ApiError('conflict', message);
  }
  // The same page may have been sent again with success. Then both are kept, and the key is the other's.
  const isNew =
    (await insertWriting(db, writing, 'completed')) ||
    (await insertWriting(db, { ...writing, key: undefined }, 'completed'));
  if (!isNew) return undefined;
  if (limited) await takeAnswers(db, limited, id).catch(refuseTaken('This cannot be released'));
  await giveHeldFiles(db, { workspace_id: workspaceId, held_id: id, submission_id: id });
  await deleteHeld(db, { ...row, ids: [id] });
  await giveEditLink(db, vault, writing);
  return tellCreated(db, writing, writing.createdAt, now());
}
