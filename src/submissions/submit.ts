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
 * What a visitor sent. Files are received and stored already, by their HTML name; they belong to nobody yet, or to the
 * answers that were saved under the same key.
 */
export type SubmitRequest = KeyedRequest;

/**
 * `repeated`: the same answers had been submitted under the key before, and this is their submission.
 * `isHeld`: it lies in the spam box, which nobody outside learns.
 * `editToken`: for the address under which the visitor may change the submission, where the form allows that.
 */
export type SubmitResult =
  | { ok: true; submission: Submitted; repeated: boolean; isHeld?: true; editToken?: string }
  | { ok: false; errors: readonly AnswerError[] };

/** What submitting needs. */
export type SubmitContext = { database: Database; vault: Vault; wakeQueue: () => void };

/**
 * Takes a completed submission: checks the answers, also against those that are taken, then writes the submission, its count, its search text, its
 * claim on the files and its events in one transaction (docs/rules.md 19: when this returns ok, nothing of it is lost).
 * Under a key it is taken once, however often and however much at the same time it is sent; what was saved under the
 * key becomes it. The caller removes the files of a submission that was refused, or repeated.
 * @throws ApiError gone when the form takes no more submissions, not_found when it was deleted meanwhile, conflict
 * when a file was used meanwhile; OtherAnswers.
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
  // The form may have changed since the answers were taken, so that they would not do today.
  if (!checked.ok) return (await answerRepeat(context, request)) ?? checked;
  const writing = prepareWriting(request, checked.answers);

  // Without files, webhooks, mails, limits and a link there is one statement, which is a transaction of its own.
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
 * Writes a submission and all that goes with it, in one transaction.
 * @param insert writes the submission itself, and tells whether it is new.
 * @returns undefined when it is not.
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
 * Writes a submission to a form that was published anew since its answers were checked. It is pinned to the version that was
 * answered, and takes its place by the one that is live.
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

/** The answer to what is not new: the key was used, or answers were saved under it, or the form is another one, or gone. */
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
 * The answer that the same answers got before under this key, in the spam box as well: the same receipt and the same
 * link. Undefined when there is none. Also for a form that is closed since: whoever was in time is told so again.
 * @throws OtherAnswers when asked to.
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
  // The link of what is held begins to work when it is released.
  const link = isHeld ? editTokenOf(vault, editable) : await giveEditLink(database, vault, editable);
  return { ok: true, submission: earlier, repeated: true, ...link };
}
