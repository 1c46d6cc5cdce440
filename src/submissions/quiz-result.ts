import type { Answers } from '#ast/answers/check-answers.ts';
import type { AnswerFormat } from '#ast/answers/format-answer.ts';
import { createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { describeQuiz, isPassed, type QuizResult, scoreAnswers } from '#ast/answers/quiz.ts';
import type { Form } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { answerFilesOf } from '#ast/settings-by-condition.ts';
import { settingRows } from '#ast/settings-table.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import type { SubmissionStatus } from './submission-rows.ts';

/** A submission with the settings of its form. `form` has the right answers, in the reader's language. */
type Answered = {
  readonly form: Form;
  readonly status: SubmissionStatus;
  readonly answers: Answers;
  readonly reference: Readonly<Record<string, string>>;
  readonly settings: Settings;
};

/** The result of a stored quiz: what its visitor may see, and the lines of the certificate if it has one. */
export type StoredQuiz = {
  readonly shown: QuizResult | undefined;
  readonly certificate: Certificate | undefined;
};
export type Certificate = { readonly name: string; readonly scores: readonly string[] };

/** Scores the answers of a stored submission again, by the version that was answered. */
export function describeStoredQuiz(
  { form, status, answers, reference, settings }: Answered,
  format: AnswerFormat,
): StoredQuiz {
  const context = createEvaluationContext(settings, reference);
  const { isShown } = evaluateVisibility(form, answers, context, answerFilesOf(form, answers));
  const fill = createPlaceholderFiller({
    form,
    values: answers,
    files: new Map(),
    shown: { isShown },
    format,
  });
  const { quiz_results: results = settingRows.quiz_results.default, certificate_name_element: id } = settings;
  const scores = scoreAnswers(form, answers, isShown);
  const percent = new Intl.NumberFormat(format.numberLocale, { style: 'percent' });
  return {
    shown: describeQuiz(form, answers, isShown, { results, format, fill }),
    certificate:
      id !== undefined && status === 'completed' && isPassed(scores)
        ? {
            name: fill(`{{${id}}}`),
            scores: scores.map(
              ({ label, points, of }) => `${label}: ${points} / ${of} (${percent.format(points / of)})`,
            ),
          }
        : undefined,
  };
}
