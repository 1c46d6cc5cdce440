import type { Shown } from '#ast/logic/evaluate.ts';
import { type Form, isRequired } from '#ast/tree.ts';

/** A form as if none of its conditions were there: what the builder's canvas draws. */
export function everythingShown(form: Form): Shown {
  return {
    steps: form.children.map((_step, index) => index),
    isShown: () => true,
    isRequired,
    holds: () => true,
    calculated: () => undefined,
  };
}
