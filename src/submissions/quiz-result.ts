import type { Answers } from '#ast/answers/check-answers.ts';
import type { AnswerFormat } from '#ast/answers/format-answer.ts';
import { createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { type IsShown, isPassed, listQuizAnswers, type QuizResult, scoreAnswers } from '#ast/answers/quiz.ts';
import { cutToBytes } from '#ast/basics/text.ts';
import type { Form } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { formatNumber } from '#ast/rules/written-numbers.ts';
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

/** The longest name on a certificate. A longer one would leave no space for the scores. */
const nameBytes = 160;

/** A quiz with the answers of a visitor, and how it is shown. `fill` replaces the placeholders of a text. */
type AnsweredQuiz = {
  /** The form with the right answers, in the visitor's language. */
  readonly form: Form;
  readonly values: Readonly<Record<string, unknown>>;
  readonly isShown: IsShown;
  readonly settings: Settings;
  readonly format: AnswerFormat;
  readonly fill: (text: string) => string;
};

/** Returns the scores of answers, what their visitor sees, and the name on the certificate if there is one. */
export function describeQuizFor({ form, values, isShown, settings, format, fill }: AnsweredQuiz) {
  const scores = scoreAnswers(form, values, isShown);
  const { quiz_results: results = settingRows.quiz_results.default, certificate_name_element: id } = settings;
  const answers = results === 'answers' && listQuizAnswers(form, values, isShown, { format, fill });
  const named = scores.map((score) => ({ ...score, label: fill(score.label) }));
  const shown: QuizResult = { scores: named, ...(answers && { answers }) };
  return {
    scores,
    shown: results === 'none' || scores.length === 0 ? undefined : shown,
    certifiedName:
      id !== undefined && isPassed(scores)
        ? cutToBytes(fill(`{{${id}}}`), nameBytes) || undefined
        : undefined,
  };
}

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
  const quiz = { form, values: answers, isShown, settings, format, fill };
  const { scores, shown, certifiedName: name } = describeQuizFor(quiz);
  const { numberLocale: locale } = format;
  const percent = new Intl.NumberFormat(locale, { style: 'percent' });
  return {
    shown,
    certificate:
      name === undefined || status !== 'completed'
        ? undefined
        : {
            name,
            scores: scores.map(
              ({ label, points, of }) =>
                `${fill(label)}: ${formatNumber(points, locale)} / ${formatNumber(of, locale)} (${percent.format(points / of)})`,
            ),
          },
  };
}
