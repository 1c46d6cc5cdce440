import { createHash } from 'node:crypto';
import type { LiveForm } from '#forms/live-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';
import { requireIdempotencyKey } from '#workspaces/idempotency.ts';
import { findByKey, lockFormForSubmit } from './submission-rows.ts';
import { bringUpToDate, isLimited, type LimitedForm } from './taken/take.ts';

/** Whether the submits of a form come one after the other: it takes so many of them, or so many of an answer. */
export const takesTurns = ({ form, settings }: Pick<LiveForm, 'form' | 'settings'>): boolean =>
  settings.max_submissions !== undefined || isLimited(form);

/** Of each form that takes turns, the last submit that waits or works. */
const last = new Map<string, Promise<unknown>>();

/**
 * Lets the submits of a form that takes turns come one after the other in this process. They take turns in the database
 * anyhow (maximum.ts); waiting there, each would hold a connection that the visitors of other forms need: 400 at once
 * left 330 of them without an answer in time. Other forms do not wait.
 */
export async function inTurn<Result>(
  live: Pick<LiveForm, 'id' | 'form' | 'settings'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { id } = live;
  if (!takesTurns(live)) return work();
  const before = last.get(id) ?? Promise.resolve();
  const mine = before.then(work, work);
  last.set(id, mine);
  try {
    return await mine;
  } finally {
    if (last.get(id) === mine) last.delete(id);
  }
}

/** A statement of its own, after the lock: a statement sees what was committed before it began, not while it waited. */
const countCompleted = statement(
  'count_completed',
  'workspace_id form_id',
  'completed',
  `select coalesce(sum(count), 0)::bigint as completed from submission_counts
   where workspace_id = $workspace_id and form_id = $form_id and status = 'completed'`,
);

type Form = Pick<LiveForm, 'workspaceId' | 'id' | 'settings' | 'form'>;

/**
 * Looks for a place in a form that takes a number of submissions, or of an answer, and keeps all others from doing so until the transaction ends. Exact
 * under parallel submits: they take turns, each seeing the count of the ones before.
 * @returns `used`: something was submitted under the key already, and has its place.
 */
export async function lookForPlace(
  db: Queryable,
  live: Form,
  key: string | undefined,
): Promise<'free' | 'used' | 'full'> {
  if (!takesTurns(live)) return 'free';
  await lockFormForSubmit(db, { form_id: live.id });
  if (key !== undefined) {
    const [found] = await findByKey(db, { workspace_id: live.workspaceId, form_id: live.id, key });
    if (found?.completed_at) return 'used';
  }
  return (await isFull(db, live)) ? 'full' : 'free';
}

/**
 * lookForPlace for a submit.
 * @returns whether there is a place to take; false when the key has one.
 * @throws ApiError gone when the form is full.
 */
export async function takePlace(
  db: Queryable,
  live: Form & LimitedForm,
  key: string | undefined,
): Promise<boolean> {
  const place = await lookForPlace(db, live, key);
  if (place === 'free' && isLimited(live.form)) await bringUpToDate(db, live);
  if (place === 'full') throw new ApiError('gone', fullMessage);
  return place === 'free';
}

/** What a visitor is told by a form that has its maximum. */
export const fullMessage = 'This form has received all the submissions it takes.';

/** Whether a form has its maximum. Without the lock of lookForPlace this is true of the moment alone. */
export async function isFull(db: Queryable, live: Omit<Form, 'form'>): Promise<boolean> {
  const maximum = live.settings.max_submissions;
  if (maximum === undefined) return false;
  const [count] = await countCompleted(db, { workspace_id: live.workspaceId, form_id: live.id });
  return count!.completed >= maximum;
}

/**
 * The key of a submission, under which it is stored once however often it is sent
 * (docs/decisions/0014-idempotent-submits.md). A page carries it signed, so that nobody can make up another's.
 */
type SubmissionKey = {
  /** UUIDv7. */
  key: string;
  /** When the page was first served. */
  servedAt: Date;
};

/** The form that a page with a key belongs to. */
type KeyedForm = { workspaceId: string; id: string };

/** A new key for a page of this form, as text for its control `_key`. */
export const makeKey = (vault: Vault, form: KeyedForm): string => signKey(vault, form, newId());

/** The text of a key that exists: a page that goes on with a submission carries that submission's key. */
export const signKey = (vault: Vault, form: KeyedForm, key: string): string =>
  `${key}.${signLink(vault, 'submission keys', targetOf(form, key))}`;

/** Reads a page's key. It never expires: a page may stay open for days. Undefined for what was not signed for this form. */
export function readKey(vault: Vault, form: KeyedForm, text: string): SubmissionKey | undefined {
  const [key, signature, ...rest] = text.split('.');
  if (!key || !signature || rest.length > 0) return undefined;
  if (!verifyLink(vault, 'submission keys', signature, targetOf(form, key))) return undefined;
  return { key, servedAt: timeOfId(key) };
}

const targetOf = ({ workspaceId, id: formId }: KeyedForm, id: string): LinkTarget => ({
  workspaceId,
  formId,
  id,
});

/**
 * The key of a client that names its request itself, in the header `Idempotency-Key`: the same text for the same form
 * is the same submission.
 * @param given 1 to 255 visible ASCII characters.
 * @throws ApiError bad_request.
 */
export function keyOfHeader(formId: string, given: string): string {
  requireIdempotencyKey(given);
  const hex = createHash('sha256').update(`${formId}/${given}`).digest('hex');
  // Version 8 is the one for ids of one's own making (RFC 9562), so none can be a page's UUIDv7.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
