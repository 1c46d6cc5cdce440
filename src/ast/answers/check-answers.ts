import { isRecord } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { limitProblems, type ProblemCode } from '../basics/problems.ts';
import { fillPipedWithLabels } from '../form/piping.ts';
import { type Form, listQuestions } from '../form/tree.ts';
import { type EvaluationContext, evaluateVisibility } from '../logic/evaluate.ts';
import type { FileAnswer } from '../rules/check-files.ts';
import { type AnswerProblem, formatProblem } from '../rules/problem.ts';
import { ruleCodes } from '../rules/rule-codes.ts';
import {
  type Answers,
  collectValidAnswers,
  createFormProblem,
  type FieldProblem,
  type Filling,
  findUnknownFields,
} from './fill.ts';
import { isShownById, withScores } from './quiz.ts';

export type { EvaluationContext as AnswerContext } from '../logic/evaluate.ts';
export type { FileAnswer } from '../rules/check-files.ts';
export type { PlainAnswer } from '../types/rules.ts';
export type { AnswerRow, Answers, AnswerValue, FieldProblem } from './fill.ts';

/** The uploaded files by HTML name: `photo`, or `group[0][photo]` in a row. */
export type AnswerFiles = ReadonlyMap<string, readonly FileAnswer[]>;

/**
 * A problem with an answer: an English sentence for API clients, and `problem` for the page. Callers add
 * errors without `problem`, such as a file that was lost during the upload.
 */
export type AnswerError = {
  readonly field: string;
  readonly message: string;
  readonly problem?: AnswerProblem;
  readonly code?: ProblemCode;
};

export type AnswersResult =
  | { readonly ok: true; readonly answers: Answers }
  | { readonly ok: false; readonly errors: readonly AnswerError[] };

/**
 * Checks raw answers, from JSON or from `parseRawAnswers`, against a valid form (docs/rules.md 10). Accepts any
 * value. Returns the answers to store: tidied, without blank answers, blank rows and hidden elements
 * (docs/decisions/0012). Reads files only from `files`. Returns all problems in form order, followed by those
 * for unknown names.
 * @param written the form with the right answers of a quiz, if `form` is the one that visitors receive.
 * @throws TooMuchWork
 */
export function checkAnswers(
  form: Form,
  raw: unknown,
  files: AnswerFiles,
  context: EvaluationContext,
  written: Form = form,
): AnswersResult {
  const answers: Answers = {};
  const shown = evaluateVisibility(form, raw, context, files);
  const filling = fillForm(answers, form, { raw, files, shown, context });
  const problems = limitProblems(filling, formLimits.answerErrors, {
    field: 'answers',
    problem: createFormProblem('more', { limit: formLimits.answerErrors }),
  });
  return problems.length === 0
    ? { ok: true, answers: withScores(written, answers, isShownById(form, shown)) }
    : { ok: false, errors: problems.map((found) => toAnswerError(form, found)) };
}

/** Returns the problem with its English sentence for API responses, without the answers. */
export function toAnswerError(form: Form, { field, problem }: FieldProblem): AnswerError {
  return {
    field,
    problem,
    message: formatProblem({ ...problem, label: fillPipedWithLabels(form, problem.label) }),
    code: ruleCodes[problem.rule],
  };
}

function* fillForm(
  answers: Answers,
  form: Form,
  { raw, ...given }: Omit<Filling, 'raw'> & { readonly raw: unknown },
): Generator<FieldProblem, void> {
  if (!isRecord(raw)) {
    yield { field: 'answers', problem: createFormProblem('answers') };
    return;
  }
  const questions = listQuestions(form);
  const filling = { raw, ...given };
  yield* collectValidAnswers(answers, questions, filling);
  yield* findUnknownFields(form, questions, filling);
}
