import { type Form } from '#ast/form/tree.ts';

/** The id of the review step. No author can choose this id. */
export const reviewStepId = '_review';

/** Returns the index of the review step; undefined if the form has none. */
export function reviewStepOf({ children }: Form): number | undefined {
  const last = children.length - 1;
  return children[last]?.attrs?.id === reviewStepId ? last : undefined;
}

/** The position of a step among the reachable ones, counted from 1. */
export type StepPosition = { readonly number: number; readonly total: number };

/**
 * Returns the visitor's position among the reachable steps, counted from 1. An unreachable step counts as the
 * last reachable one before it.
 */
export function getStepPosition(steps: readonly number[], step: number): StepPosition {
  const before = steps.filter((each) => each <= step).length;
  return { number: Math.max(1, before), total: Math.max(1, steps.length) };
}

/**
 * Returns the percentage of the progress bar. Sending counts as one more step, so the bar is not full before.
 */
export function progressPercent({ number, total }: StepPosition): number {
  return Math.round((100 * number) / (total + 1));
}
