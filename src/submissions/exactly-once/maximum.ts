import type { LiveForm } from '#forms/live-form.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { isLimited } from '../taken/limits-of.ts';
import { bringUpToDate, type LimitedForm } from '../taken/take.ts';
import { takesTurns } from './turns.ts';
import { findByKey, lockFormForSubmit } from '../submission-rows.ts';

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
