import { factOf } from '#ast/basics/fact-of.ts';
import { type Form, listQuestions, type Step } from '#ast/form/tree.ts';

const questionsOf = (step: Step): string[] =>
  listQuestions({ type: 'form', attrs: { name: '' }, children: [step] }).map(
    ({ element }) => element.attrs.id,
  );

/**
 * Returns the names under which visits of a step are counted: the ids of its questions, which stay when steps
 * are moved. A step may also ask its questions one by one. A step without questions is counted by its own id,
 * or by its position.
 */
export function stepNames({ children }: Form, index: number): readonly [string, ...string[]] {
  const step = children[index]!;
  const [first, ...rest] = questionsOf(step);
  return first === undefined ? [`#${step.attrs?.id ?? index}`] : [first, ...rest];
}

/** The name of the review step, from the id that the page gives it. */
export const reviewName = '#_review';

/** Returns the name of each step in order: the id of its first question. */
export const stepNamesOf = factOf((form: Form): readonly string[] =>
  form.children.map((_, index) => stepNames(form, index)[0]),
);
