import { createHash } from 'node:crypto';
import type { LiveForm } from '#forms/live-form.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';
import { requireIdempotencyKey } from '#workspaces/idempotency.ts';
import { findByKey, lockFormForSubmit } from './submission-rows.ts';
import { bringUpToDate, isLimited, type LimitedForm } from './taken/take.ts';

/** Whether a form must process submissions one at a time: it has a response limit or quotas. */
export const takesTurns = ({ form, settings }: Pick<LiveForm, 'form' | 'settings'>): boolean =>
  settings.max_submissions !== undefined || isLimited(form);

/** The last waiting or running submission of each form that processes them one at a time. */
const last = new Map<string, Promise<unknown>>();

/**
 * Processes the submissions of a form with limits one at a time in this process. The form lock of the
 * database would do that too, but each waiting submission would use a connection that visitors of other forms
 * need: with 400 parallel submissions, 330 got no answer in time. Other forms do not wait.
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

/**
 * A separate statement after the lock: a statement sees what was committed before it began, not while it
 * waited.
 */
const countCompleted = statement(
  'count_completed',
  'workspace_id form_id',
  'completed',
  `select coalesce(sum(count), 0)::bigint as completed from submission_counts
   where workspace_id = $workspace_id and form_id = $form_id and status = 'completed'`,
);

type Form = Pick<LiveForm, 'workspaceId' | 'id' | 'settings' | 'form'>;

/**
 * Acquires the form lock until the transaction ends and checks the response limit. This is exact for parallel
 * submissions: each waits for the previous one and sees its count.
 * @returns `used` if the key already has a submission, which is counted.
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
 * Checks the limits for a new submission.
 * @returns whether to count it; false if its key is already counted.
 * @throws ApiError gone if the form is full.
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

/** Shown to visitors of a form that has reached its response limit. */
export const fullMessage = 'This form has reached its maximum number of responses.';

/**
 * Whether a form has reached its response limit. Without the form lock, the result may already be outdated.
 */
export async function isFull(db: Queryable, live: Omit<Form, 'form'>): Promise<boolean> {
  const maximum = live.settings.max_submissions;
  if (maximum === undefined) return false;
  const [count] = await countCompleted(db, { workspace_id: live.workspaceId, form_id: live.id });
  return count!.completed >= maximum;
}

/**
 * The idempotency key of a submission, which is stored once even if it is sent several times
 * (docs/decisions/0014-idempotent-submits.md). Pages carry it signed, so that visitors cannot use the key of
 * another page.
 */
type SubmissionKey = {
  /** UUIDv7. */
  key: string;
  /** When the page was first served. */
  servedAt: Date;
};

/** The form of a page with a key. */
type KeyedForm = { workspaceId: string; id: string };

/** Creates the key for a page of this form, as the value of its control `_key`. */
export const makeKey = (vault: Vault, form: KeyedForm): string => signKey(vault, form, newId());

/** Signs an existing key: a page that resumes a submission carries the key of that submission. */
export const signKey = (vault: Vault, form: KeyedForm, key: string): string =>
  `${key}.${signLink(vault, 'submission keys', targetOf(form, key))}`;

/**
 * Reads the key of a page; undefined if it was not signed for this form. It never expires, because a page may
 * stay open for days.
 */
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
 * Returns the key of a request with the header `Idempotency-Key`: equal values for a form mean one
 * submission.
 * @param given 1 to 255 visible ASCII characters.
 * @throws ApiError bad_request.
 */
export function keyOfHeader(formId: string, given: string): string {
  requireIdempotencyKey(given);
  const hex = createHash('sha256').update(`${formId}/${given}`).digest('hex');
  // UUID version 8 is for custom ids (RFC 9562), so the key cannot equal the UUIDv7 of a page.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
