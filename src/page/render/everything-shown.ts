import type { Shown } from '#ast/logic/evaluate.ts';
import { isRequired } from '#ast/tree.ts';

/** A form with these steps as if none of its conditions were there: what the builder's canvas draws. */
export const everythingShown = (steps: readonly number[]): Shown => ({
  steps,
  isShown: () => true,
  isRequired,
  holds: () => true,
  calculated: () => undefined,
});
