import { answerLimits } from './limits.ts';

/**
 * The work budget of one request, in steps of about ten nanoseconds. Steps are counted rather than measured,
 * so that server and browser get equal results. Code whose work grows with the request or the form must spend
 * steps before it does the work.
 */
export type WorkBudget = {
  left: number;
  /** The cached objects that the request has already paid for. */
  readonly kept: Set<unknown>;
};

/** Thrown if a request exceeds its work budget. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';

  constructor() {
    super(
      'Checking these answers takes more work than one request may cause. Send shorter answers or fewer rows.',
    );
  }
}

/** Creates the full work budget of one request. */
export const createWorkBudget = (): WorkBudget => ({ left: answerLimits.workSteps, kept: new Set() });

/**
 * Subtracts steps from the budget.
 * @throws TooMuchWork
 */
export function spendWork(work: WorkBudget, steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new TooMuchWork();
}

/**
 * Spends the steps for a cached object once per request, even if another request created the object, so that
 * costs do not depend on the cache.
 */
export function spendWorkOnce(work: WorkBudget, what: unknown, steps: number): void {
  if (work.kept.has(what)) return;
  work.kept.add(what);
  spendWork(work, steps);
}
