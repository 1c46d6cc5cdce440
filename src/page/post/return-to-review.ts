import { checkStep } from '#ast/answers/check-step.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import type { Form } from '#ast/form/tree.ts';
import { type AnswerContext, type Shown } from '#ast/logic/evaluate.ts';
import type { FileFacts } from '#ast/rules/check-files.ts';
import { shownByCondition } from '../render/elements/conditional.ts';

function* marksIn({ form, raw, files, shown }: Answered, step: number): Generator<string, void> {
  yield String(step);
  yield* shownByCondition(form, step, shown, { answers: raw, held: files }).keys();
}

/** The answers of a form, and what they show. */
export type Answered = {
  readonly form: Form;
  readonly raw: RawAnswers;
  readonly files: ReadonlyMap<string, readonly FileFacts[]>;
  readonly context: AnswerContext;
  readonly shown: Shown;
};

/**
 * What a visitor has seen who looks through the answers: the steps, and in them what only conditions show. The page
 * carries it (`_known`) while an answer is changed, so that what the change opens is asked.
 */
export function knownOf(answered: Answered): string {
  return answered.shown.steps.flatMap((step) => [...marksIn(answered, step)]).join();
}

/**
 * Where a visitor goes on who has changed an answer: to the list of answers, the last step; before that to each later
 * step with something new to be seen, or with something wrong by now.
 */
export function stepOnReturn(answered: Answered, from: number, known: string): number | undefined {
  const { form, raw, files, context, shown } = answered;
  const seen = new Set(known.split(','));
  const isNew = (step: number) => [...marksIn(answered, step)].some((mark) => !seen.has(mark));
  const later = shown.steps.filter((step) => step > from);
  return (
    later.find((step) => isNew(step) || checkStep(form, step, raw, files, context).length > 0) ?? later.at(-1)
  );
}
