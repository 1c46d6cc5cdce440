import type { AnswerFiles, FieldProblem } from '#ast/answers/check-answers.ts';
import { checkStep, stepIndexOfField } from '#ast/answers/check-step.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import type { Form } from '#ast/form/tree.ts';
import { type EvaluationContext, evaluateVisibility } from '#ast/logic/evaluate.ts';
import { listConditionalMarks } from '../render/elements/conditional.ts';
import { firstInputNameIn } from '../render/elements/groups.ts';
import { stepHeadingId } from '../render/steps.ts';
import type { FieldMessage } from '../render/view.ts';
import { type AnsweredForm, findStepAfterChange, listKnownMarks } from './return-to-review.ts';

/** A click on Back, Next or Submit, with everything that the page posted. */
type StepPost = {
  readonly form: Form;
  readonly raw: RawAnswers;
  readonly files: AnswerFiles;
  readonly context: EvaluationContext;
  /** The index of the visible step. */
  readonly step: number;
  readonly go: 'back' | 'next' | 'submit';
  /** Marks of the conditional elements that the step showed, from the page's `_seen`. */
  readonly seen: ReadonlySet<string>;
  /** Marks of what the visitor saw in the review, while an answer is changed, from the page's `_known`. */
  readonly known?: string | undefined;
  /** Problems beyond the answers, for example with files. */
  readonly problems: readonly FieldMessage[];
  /** Describes a problem in the language of the page. */
  readonly say: (problem: FieldProblem) => FieldMessage;
};

/**
 * The step to show next, or that everything can be submitted. `notice` is the key of a message on the page.
 */
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
 * Returns the step that a button leads to. Back never validates. Next and Submit validate the step, and stay
 * on it if an answer made new questions appear. Submit acts like Next if there is a later step. Next never
 * submits: if an answer made this step the last one, it stays with a notice.
 */
export function resolveStep(post: StepPost): StepResult {
  const { form, raw, files, context, go, problems } = post;
  const shown = evaluateVisibility(form, raw, context, files);
  // If an answer made the shown step unreachable, continue from the nearest earlier step.
  const step = shown.steps.findLast((each) => each <= post.step) ?? shown.steps[0] ?? 0;
  const position = shown.steps.indexOf(step);
  const to = (index: number): StepResult => openStep(form, index, context);
  // A visitor who came from the review goes back to it.
  const before = post.known ? shown.steps.at(-1) : shown.steps[Math.max(0, position - 1)];
  if (go === 'back') return to(before ?? 0);
  if (step !== post.step) return to(step);

  const appeared = [...listConditionalMarks(form, step, shown, { answers: raw, files })].filter(
    ([mark]) => !post.seen.has(mark),
  );
  const unseen = new Set(appeared.flatMap(([, names]) => names));
  // New questions are shown first; only on the next click is leaving them empty an error.
  const errors = [
    ...problems.filter(({ field }) => stepIndexOfField(form, field) === step),
    ...checkStep(form, step, raw, files, context)
      .filter(({ field }) => !unseen.has(field))
      .map(post.say),
  ];
  if (errors.length > 0) return { kind: 'show', step, errors };
  if (appeared.length > 0) return { kind: 'show', step, errors, notice: 'appeared' };
  const answered = { form, raw, files, context, shown };
  const next = post.known ? findStepAfterChange(answered, step, post.known) : shown.steps[position + 1];
  if (next !== undefined) return to(next);
  return go === 'submit' ? { kind: 'submit' } : { kind: 'show', step, errors, notice: 'lastStep' };
}

/**
 * Returns the result that shows a step. The focus is on its heading, or on its answer if the page shows one
 * question at a time.
 */
function openStep(form: Form, step: number, { asksSingly }: EvaluationContext): StepResult {
  const focus = asksSingly ? firstInputNameIn(form.children[step]?.children ?? []) : undefined;
  return { kind: 'show', step, errors: [], focus: focus ?? stepHeadingId(step) };
}

/** Returns the step of an answer in the review. Undefined if the form does not have the field. */
export function findFieldStep(
  answered: AnsweredForm,
  field: string,
): (StepResult & { kind: 'show' }) | undefined {
  const step = stepIndexOfField(answered.form, field);
  if (step === undefined) return undefined;
  return { kind: 'show', step, errors: [], focus: field, known: listKnownMarks(answered) };
}

/**
 * Returns the step to show for errors of a whole form: the first step with an error, with its errors and
 * those that belong to no step. Errors of later steps are shown when the visitor reaches them.
 */
export function firstWrongStep(
  form: Form,
  errors: readonly FieldMessage[],
  current: number,
): { step: number; errors: readonly FieldMessage[] } {
  const places = errors.map(({ field }) => stepIndexOfField(form, field));
  const step = Math.min(...places.filter((place) => place !== undefined), Infinity);
  if (step === Infinity) return { step: current, errors };
  return { step, errors: errors.filter((_error, index) => (places[index] ?? step) === step) };
}
