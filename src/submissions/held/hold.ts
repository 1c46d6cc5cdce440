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
 * Why answers are spam. `honeypot`: the hidden field is filled in. `too_fast`: sent sooner after loading the
 * page than the form's `min_seconds`. `no_page`: the key is not from our page, or is missing although the
 * form requires proof of work. `no_proof`: without the required proof of work. `other_site`: sent by a page
 * of a site that is not in the form's `embed_origins`.
 */
export const holdReasons = ['honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site'] as const;
export type HoldReason = (typeof holdReasons)[number];

/** Inserts answers as spam. Returns no row if their key was used or the form was deleted. */
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

/** Assigns files to a spam submission: new ones, and those of saved answers with the same key. */
const holdFiles = statement(
  'held.hold_files',
  'workspace_id form_id held_id saved_id? ids',
  'id',
  `update files set held_id = $held_id, submission_id = null, claimed_at = now()
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
     and (submission_id is null and claimed_at is null or submission_id = $saved_id)
   returning id`,
);

/** The reason for spam, the keyed hash of the sender's address, and the other site whose page sent it. */
type Suspicion = { reason: HoldReason; address: Buffer; origin?: string | undefined };

/**
 * Stores suspicious answers as spam, with the response of submitAnswers: a bot must not learn that it was
 * detected. Spam is not counted, searched or sent to webhooks until it is released (releaseHeld). Answers
 * saved under the key are moved with it.
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

/** Moves the files of a spam submission to the released submission. */
const giveHeldFiles = statement(
  'held.give_held_files',
  'workspace_id held_id submission_id',
  '',
  `update files set held_id = null, submission_id = $submission_id
   where workspace_id = $workspace_id and held_id = $held_id`,
);

/**
 * Locks a spam submission for its release until the transaction ends, and selects it with its answered
 * version.
 */
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

/**
 * Deletes spam permanently; without `ids` all of the form. No submission owns the files then, and the sweep
 * deletes them.
 */
export const deleteHeld = statement(
  'held.delete_held',
  'workspace_id form_id ids?',
  'id',
  `delete from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and ($ids is null or id = any ($ids)) returning id`,
);

/**
 * Releases spam: each becomes a submission with the id and time that its visitor received, pinned to the
 * version that it answers. From now on it is counted and searched, and `submission.created` is fired once.
 * @returns the number of released submissions; those that are already gone are skipped, because another
 * member has decided.
 * @throws ApiError conflict if the form has reached its response limit or a quota; earlier submissions stay
 * released.
 */
export async function releaseHeld(
  context: SubmitContext,
  key: FormKey,
  ids: readonly string[],
): Promise<number> {
  let released = 0;
  let deliveries = 0;
  try {
    // Oldest first: with a response limit, the earliest submissions count.
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

/** @returns the number of new deliveries; undefined if the submission is gone. */
async function releaseOne(
  db: Queryable,
  { vault }: SubmitContext,
  { workspaceId, formId }: FormKey,
  id: string,
): Promise<number | undefined> {
  const row = { workspace_id: workspaceId, form_id: formId };
  // Acquires the exclusive form lock first, because the response limit may need it too.
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
  // Spam is not counted yet, so its key is not checked.
  if ((await lookForPlace(db, writing.live, undefined)) === 'full') {
    const message = `This form has reached its response limit of ${settings.max_submissions}. Raise the limit first.`;
    throw new ApiError('conflict', message);
  }
  // The same page may have been sent again successfully. Then both submissions are kept, and the other one
  // keeps the key.
  const isNew =
    (await insertWriting(db, writing, 'completed')) ||
    (await insertWriting(db, { ...writing, key: undefined }, 'completed'));
  if (!isNew) return undefined;
  if (limited) await takeAnswers(db, limited, id).catch(refuseTaken('This submission cannot be released'));
  await giveHeldFiles(db, { workspace_id: workspaceId, held_id: id, submission_id: id });
  await deleteHeld(db, { ...row, ids: [id] });
  await giveEditLink(db, vault, writing);
  return tellCreated(db, writing, writing.createdAt, now());
}
