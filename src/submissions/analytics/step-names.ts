import { factOf } from '#ast/basics/fact-of.ts';
import { type Form, listQuestions, type Step } from '#ast/form/tree.ts';

const questionsOf = (step: Step): string[] =>
  listQuestions({ type: 'form', attrs: { name: '' }, children: [step] }).map(
    ({ element }) => element.attrs.id,
  );

/**
 * The names under which visits of a step are counted: the ids of its questions, which stay when steps are moved, and of
 * which each may be asked by itself. One without a question has its own id, or its place.
 */
export function stepNames({ children }: Form, index: number): readonly [string, ...string[]] {
  const step = children[index]!;
  const [first, ...rest] = questionsOf(step);
  return first === undefined ? [`#${step.attrs?.id ?? index}`] : [first, ...rest];
}

/** The name of the step that lists the answers before they are sent, by the id that the page gives it. */
export const reviewName = '#_review';

/** The name of each step of a form as it is asked: that of its first question. */
export const stepNamesOf = factOf((form: Form): readonly string[] =>
  form.children.map((_, index) => stepNames(form, index)[0]),
);
