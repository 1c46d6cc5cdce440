import type { AnswerFiles, FieldProblem } from '#ast/answers/check-answers.ts';
import { checkStep, stepOf } from '#ast/answers/check-step.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import type { Form } from '#ast/form/tree.ts';
import { type AnswerContext, evaluate } from '#ast/logic/evaluate.ts';
import { shownByCondition } from '../render/elements/conditional.ts';
import { firstNameIn } from '../render/elements/groups.ts';
import { stepHeadingId } from '../render/steps.ts';
import type { FieldMessage } from '../render/view.ts';
import { type Answered, knownOf, stepOnReturn } from './return-to-review.ts';

/** A press of Back, Next or Submit, with everything that the page held. */
type StepPost = {
  readonly form: Form;
  readonly raw: RawAnswers;
  readonly files: AnswerFiles;
  readonly context: AnswerContext;
  /** The index of the step that the visitor saw. */
  readonly step: number;
  readonly go: 'back' | 'next' | 'submit';
  /** What conditions had shown in it: the page's `_seen`. */
  readonly seen: ReadonlySet<string>;
  /** What was known at the list of answers, when one of them is changed: the page's `_known`. */
  readonly known?: string | undefined;
  /** What is wrong beside the answers, with files for example. */
  readonly problems: readonly FieldMessage[];
  /** Says a problem in the language of the page. */
  readonly say: (problem: FieldProblem) => FieldMessage;
};

/** What the page shows next, or that everything can be submitted. `notice` names a sentence of the page. */
type StepResult =
  | { readonly kind: 'submit' }
  | {
      readonly kind: 'show';
      readonly step: number;
      readonly errors: readonly FieldMessage[];
      readonly focus?: string;
      readonly notice?: 'appeared' | 'lastStep';
      readonly known?: string;
    };

/**
 * Where a press leads. Back never checks. Next and Submit check the step, and stay on it when an answer has made
 * questions appear that the visitor has not seen. Submit goes on like Next when there is a step after this one; Next
 * never submits: when an answer made this step the last one, it stays and says so.
 */
export function takeStep(post: StepPost): StepResult {
  const { form, raw, files, context, go, problems } = post;
  const shown = evaluate(form, raw, context, files);
  // A step that an answer put out of reach is left by the way the visitor came.
  const step = shown.steps.findLast((each) => each <= post.step) ?? shown.steps[0] ?? 0;
  const position = shown.steps.indexOf(step);
  const to = (index: number): StepResult => reach(form, index, context);
  // Who came from the list of answers goes back to it.
  const before = post.known ? shown.steps.at(-1) : shown.steps[Math.max(0, position - 1)];
  if (go === 'back') return to(before ?? 0);
  if (step !== post.step) return to(step);

  const appeared = [...shownByCondition(form, step, shown, { answers: raw, held: files })].filter(
    ([mark]) => !post.seen.has(mark),
  );
  const unseen = new Set(appeared.flatMap(([, names]) => names));
  // What the visitor had no chance to answer is shown first, and wrong only when it is left out then.
  const errors = [
    ...problems.filter(({ field }) => stepOf(form, field) === step),
    ...checkStep(form, step, raw, files, context)
      .filter(({ field }) => !unseen.has(field))
      .map(post.say),
  ];
  if (errors.length > 0) return { kind: 'show', step, errors };
  if (appeared.length > 0) return { kind: 'show', step, errors, notice: 'appeared' };
  const answered = { form, raw, files, context, shown };
  const next = post.known ? stepOnReturn(answered, step, post.known) : shown.steps[position + 1];
  if (next !== undefined) return to(next);
  return go === 'submit' ? { kind: 'submit' } : { kind: 'show', step, errors, notice: 'lastStep' };
}

/** A step is reached at its heading, and one that is a single question at its answer. */
function reach(form: Form, step: number, { asksSingly }: AnswerContext): StepResult {
  const focus = asksSingly ? firstNameIn(form.children[step]?.children ?? []) : undefined;
  return { kind: 'show', step, errors: [], focus: focus ?? stepHeadingId(step) };
}

/** Leads back from the list of answers to one of them. Undefined for what is no field of the form. */
export function leadToField(answered: Answered, field: string): (StepResult & { kind: 'show' }) | undefined {
  const step = stepOf(answered.form, field);
  if (step === undefined) return undefined;
  return { kind: 'show', step, errors: [], focus: field, known: knownOf(answered) };
}

/**
 * The step to show for errors of a whole form: the first that has one, with its own errors and those of no step.
 * The others are said when the visitor comes to them.
 */
export function firstWrongStep(
  form: Form,
  errors: readonly FieldMessage[],
  current: number,
): { step: number; errors: readonly FieldMessage[] } {
  const places = errors.map(({ field }) => stepOf(form, field));
  const step = Math.min(...places.filter((place) => place !== undefined), Infinity);
  if (step === Infinity) return { step: current, errors };
  return { step, errors: errors.filter((_error, index) => (places[index] ?? step) === step) };
}
