import type { Answers } from '#ast/answers/check-answers.ts';
import type { AnswerFormat } from '#ast/answers/format-answer.ts';
import { createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { describeQuiz, isPassed, type QuizResult, type QuizScore, scoreAnswers } from '#ast/answers/quiz.ts';
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

/** Returns the name on the certificate; undefined if there is none: without a name or a pass mark. */
export function findCertifiedName(
  { certificate_name_element: id }: Settings,
  scores: readonly QuizScore[],
  fill: (text: string) => string,
): string | undefined {
  if (id === undefined || !isPassed(scores)) return undefined;
  return cutToBytes(fill(`{{${id}}}`), nameBytes) || undefined;
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
  const { quiz_results: results = settingRows.quiz_results.default } = settings;
  const scores = scoreAnswers(form, answers, isShown);
  const name = status === 'completed' ? findCertifiedName(settings, scores, fill) : undefined;
  const { numberLocale: locale } = format;
  const percent = new Intl.NumberFormat(locale, { style: 'percent' });
  return {
    shown: describeQuiz(form, answers, isShown, { results, format, fill }),
    certificate:
      name === undefined
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
