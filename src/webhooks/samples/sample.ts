import type { AnswerRow, Answers, AnswerValue } from '#ast/answers.ts';
import { checkAnswer } from '#ast/answers/check-input.ts';
import { type AnswerContext, evaluate } from '#ast/logic/evaluate.ts';
import { elements } from '#ast/elements.ts';
import { answerLimits } from '#ast/limits.ts';
import { type Form, type InputElement, kindOf, listQuestions } from '#ast/tree.ts';
import { newWork, TooMuchWork, type Work } from '#ast/work.ts';

/** Answers that somebody might have given, and the reference data of a form that was opened with `?test=true`. */
type SampleSubmission = { answers: Answers; reference: Record<string, string> };

/**
 * A submission of this form that was never made, for the test of a webhook: every question that is shown has an
 * answer, a repeatable group has one row. The answers are those that the form itself would accept, but for patterns
 * that none of a few usual texts has, or that take more work than a sample is worth. The same form gives the same sample on the same day.
 * @param today YYYY-MM-DD, for limits such as `today+7`.
 */
export function sampleSubmission(form: Form, today = '2026-01-31'): SampleSubmission {
  const answers: Answers = {};
  const reference = { test: 'true' };
  const trial: Trial = { today, work: { left: sampleSteps, kept: new Set() } };
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (question.kind === 'input') answers[id] = sampleAnswer(question.element, trial);
    else if (question.inputs.length > 0) answers[id] = [sampleRow(question.inputs, trial)];
  }
  hideUnasked(form, answers, { reference, today, work: newWork() });
  return { answers, reference };
}

/** Conditions look at the answers, and hide some questions: nobody can have answered those. */
function hideUnasked(form: Form, answers: Answers, context: AnswerContext): void {
  const shown = evaluate(form, answers, context);
  for (const question of listQuestions(form)) {
    const { id } = question.element.attrs;
    if (!shown.isShown(question.element)) delete answers[id];
    else if (question.kind === 'group' && question.inputs.length > 0) {
      const [cells] = answers[id] as AnswerRow[];
      const hidden = question.inputs.filter(
        (input) => !shown.isShown(input, { group: question.element, index: 0 }),
      );
      for (const { attrs } of hidden) delete cells![attrs.id];
    }
  }
}

const sampleRow = (inputs: readonly InputElement[], trial: Trial): AnswerRow =>
  Object.fromEntries(inputs.map((input) => [input.attrs.id, sampleAnswer(input, trial)]));

/** What suggestions are tried by: one budget for the whole sample, a quarter of that of a visitor's answers. */
type Trial = { readonly today: string; readonly work: Work };
const sampleSteps = answerLimits.workSteps / 4;

/** The first of what somebody might answer that the input accepts; else simply the first. */
function sampleAnswer(input: InputElement, trial: Trial): AnswerValue {
  // The table pairs each type with its own attributes, which a lookup by a union cannot express.
  const suggest = elements[input.type].samples as (
    attrs: InputElement['attrs'],
    today: string,
  ) => AnswerValue[];
  const suggestions = suggest(input.attrs, trial.today);
  if (kindOf(input) === 'files') return suggestions[0]!;
  return suggestions.find((value) => isTaken(input, value, trial)) ?? suggestions[0]!;
}

function isTaken(input: InputElement, value: AnswerValue, trial: Trial): boolean {
  // To be told by each of a thousand patterns that the budget is spent would be the most of the work.
  if (trial.work.left <= 0) return false;
  try {
    return checkAnswer(input, value, trial).ok;
  } catch (error) {
    if (error instanceof TooMuchWork) return false;
    throw error;
  }
}
