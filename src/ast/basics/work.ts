import { answerLimits } from './limits.ts';

/**
 * What is left of the work that one request may cause, in steps of some ten nanoseconds, which are counted and not
 * measured: the server and a browser come to the same end. Whoever does work that grows with what was sent, or with
 * the form, pays for it here before it does it.
 */
export type Work = {
  left: number;
  /** What was paid for already, and is kept. */
  readonly kept: Set<unknown>;
};

/** The work of a request went past what one may cause. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';

  constructor() {
    super(
      'To check these answers takes more work than one request may cause. Send shorter texts, or fewer rows.',
    );
  }
}

/** The work of one request, none of it done. */
export const newWork = (): Work => ({ left: answerLimits.workSteps, kept: new Set() });

/** Pays for so many steps. @throws TooMuchWork */
export function spend(work: Work, steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new TooMuchWork();
}

/** The same for what is made once and then kept, whoever made it: it costs each request the same. */
export function spendOnce(work: Work, what: unknown, steps: number): void {
  if (work.kept.has(what)) return;
  work.kept.add(what);
  spend(work, steps);
}
