import { type AnswerError, checkAnswers } from '#ast/answers/check-answers.ts';
import { answerContext } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { findRepeat, type KeyedRequest, OtherAnswers, type Submitted } from './exactly-once/repeat.ts';
import { inTurn, takePlace, takesTurns } from './exactly-once.ts';
import { completeProgress } from './progress/complete.ts';
import { AnswersTaken, isLimited, takeAnswers, takeTurn } from './taken/take.ts';
import {
  claimAll,
  editTokenOf,
  giveEditLink,
  insertWriting,
  isMailedAbout,
  prepareWriting,
  tellCreated,
  type Writing,
} from './writing.ts';

export { OtherAnswers, type Submitted };

/**
 * Answers that a visitor sent. Files are already stored, by HTML name; they belong to no submission yet, or
 * to saved answers with the same key.
 */
export type SubmitRequest = KeyedRequest;

/**
 * `repeated`: these answers were already submitted under the key, and this is their submission. `isHeld`: it
 * is spam, which visitors must not learn. `editToken`: the token of the edit link, if the form allows
 * editing.
 */
export type SubmitResult =
  | { ok: true; submission: Submitted; repeated: boolean; isHeld?: true; editToken?: string }
  | { ok: false; errors: readonly AnswerError[] };

/** The dependencies of submitting. */
export type SubmitContext = { database: Database; vault: Vault; wakeQueue: () => void };

/**
 * Submits answers: checks them and their quotas, then writes the submission, its count, its search document,
 * its claim on files and its events in one transaction (docs/rules.md 19: when this returns ok, nothing is
 * lost). A key is submitted once, even if it is sent several times or in parallel; answers saved under the
 * key become the submission. The caller deletes the files of a rejected or repeated submission.
 * @throws ApiError gone if the form is full, not_found if it was deleted meanwhile, conflict if a file was
 * used meanwhile; OtherAnswers.
 */
export async function submitAnswers(context: SubmitContext, request: SubmitRequest): Promise<SubmitResult> {
  try {
    return await submit(context, request);
  } catch (error) {
    if (error instanceof AnswersTaken) return { ok: false, errors: error.problems };
    throw error;
  }
}

async function submit(context: SubmitContext, request: SubmitRequest): Promise<SubmitResult> {
  const { live, key } = request;
  const rules = answerContext(live.settings, request.reference, request.work);
  const checked = checkAnswers(live.form, request.raw, request.files, rules);
  // The form may have changed since these answers were first submitted, so that they are no longer valid.
  if (!checked.ok) return (await answerRepeat(context, request)) ?? checked;
  const writing = prepareWriting(request, checked.answers);

  // Without files, webhooks, emails, limits and an edit link, one statement is enough, and it is its own
  // transaction.
  const isPlain =
    writing.fileIds.length === 0 &&
    !live.hasListeners &&
    !isMailedAbout(live.settings) &&
    !takesTurns(live) &&
    !live.settings.editing &&
    !writing.opensSegment;
  if (isPlain) {
    const isNew = await insertWriting(context.database, writing, 'completed', live.version);
    return isNew ? answerNew(writing) : meetEarlier(context, request, writing);
  }
  const isNew = await inTurn(live, () =>
    write(context, writing, async (client) => {
      if (!(await takePlace(client, live, key))) return false;
      if (!(await insertWriting(client, writing, 'completed', live.version))) return false;
      if (isLimited(live.form)) await takeAnswers(client, live, writing.id);
      return true;
    }),
  );
  return isNew ?? meetEarlier(context, request, writing);
}

/**
 * Writes a submission with its files, edit link and events in one transaction.
 * @param insert writes the submission itself, and returns whether it is new.
 * @returns undefined if it is not new.
 */
async function write(
  context: SubmitContext,
  writing: Writing,
  insert: (client: Queryable) => Promise<boolean>,
): Promise<SubmitResult | undefined> {
  const written = await transaction(context.database, async (client) => {
    if (!(await insert(client))) return undefined;
    await claimAll(client, writing, writing.fileIds);
    const link = await giveEditLink(client, context.vault, writing);
    return { link, deliveries: await tellCreated(client, writing, writing.createdAt) };
  });
  if (!written) return undefined;
  if (written.deliveries > 0) context.wakeQueue();
  return answerNew(writing, written.link);
}

/**
 * Writes a submission to a form that was published again after its answers were checked. It is pinned to the
 * answered version, and counts against the limits of the live version.
 */
const writeLate = (context: SubmitContext, { live, key }: SubmitRequest, writing: Writing) =>
  inTurn(live, () =>
    write(context, writing, async (client) => {
      if (!(await takePlace(client, live, key))) return false;
      const limited = await takeTurn(client, { workspaceId: live.workspaceId, formId: live.id });
      if (!(await insertWriting(client, writing, 'completed'))) return false;
      if (limited) await takeAnswers(client, limited, writing.id);
      return true;
    }),
  );

const answerNew = ({ id, createdAt }: Writing, link: { editToken?: string } = {}): SubmitResult => ({
  ok: true,
  submission: { id, completedAt: createdAt },
  repeated: false,
  ...link,
});

/**
 * Handles a submission that was not inserted: its key is used, answers are saved under it, or the form was
 * published again or deleted.
 */
async function meetEarlier(
  context: SubmitContext,
  request: SubmitRequest,
  writing: Writing,
): Promise<SubmitResult> {
  const { live, key } = request;
  const completed =
    key !== undefined && (await inTurn(live, () => completeProgress(context, { ...writing, key })));
  if (completed) return { ok: true, repeated: false, ...completed };
  const taken =
    (await answerRepeat(context, request, { refuseOther: true })) ??
    (await writeLate(context, request, writing)) ??
    (await answerRepeat(context, request, { refuseOther: true }));
  if (taken) return taken;
  throw new ApiError('not_found', 'There is no form at this address.');
}

/**
 * Returns the earlier result for equal answers under this key, including spam: the same receipt and the same
 * link. Undefined if there is none. Also works for a form that is now closed: the submission was in time.
 * @throws OtherAnswers if `refuseOther` is set.
 */
export async function answerRepeat(
  { database, vault }: Pick<SubmitContext, 'database' | 'vault'>,
  request: SubmitRequest,
  { refuseOther = false } = {},
): Promise<SubmitResult | undefined> {
  const repeat = await findRepeat(database, request);
  if (repeat.kind === 'other' && refuseOther) throw new OtherAnswers(repeat.earlier);
  if (repeat.kind !== 'same') return undefined;
  const { earlier, isHeld } = repeat;
  const editable = { live: request.live, id: earlier.id };
  // The link of a spam submission becomes valid when it is released.
  const link = isHeld ? editTokenOf(vault, editable) : await giveEditLink(database, vault, editable);
  return { ok: true, submission: earlier, repeated: true, ...link };
}
