import { now, timeOfId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, type Queryable, statement } from '#kit/statement.ts';
import { listFiles } from '../changes/edited-answers.ts';
import type { FormKey } from '../changes/event.ts';
import { lookForPlace } from '../exactly-once/maximum.ts';
import { lockFormForSubmit } from '../submission-rows.ts';
import { refuseTaken, takeAnswers, takeTurn } from '../taken/take.ts';
import type { SubmitContext } from '../submit.ts';
import { giveEditLink, insertWriting, tellCreated, type Writing } from '../writing.ts';
import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { formTree } from '#forms/form-rows.ts';

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
