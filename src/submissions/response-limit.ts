import type { LiveForm } from '#forms/live-form.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { hasQuotas, type QuotaForm, recountQuotas } from './quotas.ts';
import { isSubmissionKeyUsed } from './repeat.ts';
import { lockFormForSubmit } from './submission-rows.ts';
import { countLeftOfLimit } from './waiting-list.ts';

/** Whether submits to a form are counted one after another: it has a response limit or quotas. */
export const hasSubmitLimits = ({ form, settings }: Pick<LiveForm, 'form' | 'settings'>): boolean =>
  settings.max_submissions !== undefined || hasQuotas(form);

/** The last queued submit of each form with limits. */
const last = new Map<string, Promise<unknown>>();

/**
 * Runs the submits to a form with limits one after another in this process. The form lock in the database
 * would do the same, but each submit waiting there occupies a connection that other forms need: with 400
 * parallel submits, 330 timed out. Submits to other forms do not wait.
 */
export async function runInFormOrder<Result>(
  live: Pick<LiveForm, 'id' | 'form' | 'settings'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { id } = live;
  if (!hasSubmitLimits(live)) return work();
  const before = last.get(id) ?? Promise.resolve();
  const mine = before.then(work, work);
  last.set(id, mine);
  try {
    return await mine;
  } finally {
    if (last.get(id) === mine) last.delete(id);
  }
}

type Form = Pick<LiveForm, 'workspaceId' | 'id' | 'settings' | 'form'>;

/**
 * Locks a form with limits until the transaction ends, checks its response limit, and brings the counts of
 * quotas up to date. The result is exact for parallel submits: each waits for the lock, and then sees the
 * counts of the others.
 * @returns whether there is capacity; false if something was already submitted under the key.
 * @throws ApiError gone if the form is full and has no waiting list.
 */
export async function requireCapacity(
  db: Queryable,
  live: Form & QuotaForm,
  key: string | undefined,
): Promise<boolean> {
  if (!hasSubmitLimits(live)) return true;
  await lockFormForSubmit(db, { form_id: live.id });
  if (key !== undefined && (await isSubmissionKeyUsed(db, live, key))) return false;
  if (!live.settings.waiting_list && (await isFormFull(db, live)))
    throw new ApiError('gone', formFullMessage);
  if (hasQuotas(live.form)) await recountQuotas(db, live);
  return true;
}

/** The message of a form that has reached its response limit. */
export const formFullMessage = 'This form has reached its response limit.';

/** Whether a form has reached its response limit. The result stays true only under the form lock. */
export const isFormFull = async (db: Queryable, live: Omit<Form, 'form'>): Promise<boolean> =>
  (await countLeftOfLimit(db, live)) <= 0;
