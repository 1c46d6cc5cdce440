import type { LiveForm } from '#forms/live-form.ts';

/** Of each form with a maximum, the last submit that waits or works. */
const last = new Map<string, Promise<unknown>>();

/**
 * Lets the submits of a form with a maximum come one after the other in this process. They take turns in the database
 * anyhow (maximum.ts); waiting there, each would hold a connection that the visitors of other forms need: 400 at once
 * left 330 of them without an answer in time. Forms without a maximum do not wait.
 */
export async function inTurn<Result>(
  { id, settings }: Pick<LiveForm, 'id' | 'settings'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (settings.max_submissions === undefined) return work();
  const before = last.get(id) ?? Promise.resolve();
  const mine = before.then(work, work);
  last.set(id, mine);
  try {
    return await mine;
  } finally {
    if (last.get(id) === mine) last.delete(id);
  }
}
