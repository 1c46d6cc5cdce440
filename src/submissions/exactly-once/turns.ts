import type { LiveForm } from '#forms/live-form.ts';

import { isLimited } from '../taken/limits-of.ts';

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
