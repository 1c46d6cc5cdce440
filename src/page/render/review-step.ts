import { type Form } from '#ast/form/tree.ts';

/** The id of the step that lists the answers: none that an author could give. */
export const reviewStepId = '_review';

/** The index of that step; undefined where the form has none. */
export function reviewStepOf({ children }: Form): number | undefined {
  const last = children.length - 1;
  return children[last]?.attrs?.id === reviewStepId ? last : undefined;
}
