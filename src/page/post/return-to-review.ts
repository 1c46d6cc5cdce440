import { checkStep } from '#ast/answers/check-step.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import type { Form } from '#ast/form/tree.ts';
import { type EvaluationContext, type VisibleParts } from '#ast/logic/evaluate.ts';
import type { FileFacts } from '#ast/rules/check-files.ts';
import { listConditionalMarks } from '../render/elements/conditional.ts';

function* marksIn({ form, raw, files, shown }: AnsweredForm, step: number): Generator<string, void> {
  yield String(step);
  yield* listConditionalMarks(form, step, shown, { answers: raw, files }).keys();
}

/** The answers to a form, and the elements shown for them. */
export type AnsweredForm = {
  readonly form: Form;
  readonly raw: RawAnswers;
  readonly files: ReadonlyMap<string, readonly FileFacts[]>;
  readonly context: EvaluationContext;
  readonly shown: VisibleParts;
};

/**
 * Lists the marks of what a visitor saw when reviewing the answers: the steps and their conditional elements.
 * The page sends them (`_known`) while an answer is changed, so that newly shown questions are asked.
 */
export function listKnownMarks(answered: AnsweredForm): string {
  return answered.shown.steps.flatMap((step) => [...marksIn(answered, step)]).join();
}

/**
 * Finds the step to show after an answer was changed: the first later step with something new or with an
 * error, or else the review, which is the last step.
 */
export function findStepAfterChange(answered: AnsweredForm, from: number, known: string): number | undefined {
  const { form, raw, files, context, shown } = answered;
  const seen = new Set(known.split(','));
  const isNew = (step: number) => [...marksIn(answered, step)].some((mark) => !seen.has(mark));
  const later = shown.steps.filter((step) => step > from);
  return (
    later.find((step) => isNew(step) || checkStep(form, step, raw, files, context).length > 0) ?? later.at(-1)
  );
}
