import { type Form } from '#ast/form/tree.ts';

/** The id of the review step. No author can choose this id. */
export const reviewStepId = '_review';

/** Returns the index of the review step; undefined if the form has none. */
export function reviewStepOf({ children }: Form): number | undefined {
  const last = children.length - 1;
  return children[last]?.attrs?.id === reviewStepId ? last : undefined;
}
