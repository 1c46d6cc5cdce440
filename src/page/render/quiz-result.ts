import type { QuizAnswer, QuizResult, QuizScore } from '#ast/answers/quiz.ts';
import { formatNumber } from '#ast/rules/written-numbers.ts';
import { attributes, type Html, html } from '../markup/html.ts';
import { renderRichText } from '../markup/rich-text.ts';
import { fillPlural, type Words } from '../words/words.ts';

type ResultView = { readonly result: QuizResult; readonly words: Words; readonly numberLocale: string };

/** Renders the scores of a quiz and, if the author shows them, the right answers. */
export const renderQuizResult = (view: ResultView): Html => html`<section class="quiz">
<h2>${view.words.quizResult}</h2>
<dl>
${view.result.scores.map((score) => renderScore(score, view))}
</dl>
${
  view.result.answers &&
  html`<h2>${view.words.quizAnswers}</h2>
<ol>
${view.result.answers.map((answer) => renderAnswer(answer, view))}
</ol>`
}
</section>`;

const renderScore = (score: QuizScore, view: ResultView): Html => html`<dt>${score.label}</dt>
<dd><strong>${formatPoints(score, view)}</strong> (${formatPercent(score, view.numberLocale)})${score.passed !== undefined && html` · <b>${view.words[score.passed ? 'quizPassed' : 'quizFailed']}</b>`}</dd>`;

const formatPoints = (
  { points, of }: Pick<QuizScore, 'points' | 'of'>,
  { words, numberLocale }: Pick<ResultView, 'words' | 'numberLocale'>,
): string =>
  fillPlural(
    words.quizPoints,
    numberLocale,
    { of },
    {
      points: formatNumber(points, numberLocale),
      of: formatNumber(of, numberLocale),
    },
  );

const formatPercent = ({ points, of }: QuizScore, locale: string): string =>
  new Intl.NumberFormat(locale, { style: 'percent' }).format(points / of);

function renderAnswer(answer: QuizAnswer, view: ResultView): Html {
  const { words } = view;
  const mark = answer.right ? words.quizRight : answer.points > 0 ? words.quizPartlyRight : words.quizWrong;
  return html`<li><h3>${answer.label}</h3>
<p><strong>${mark}</strong> <span class="size">${formatPoints(answer, view)}</span></p>
${renderGiven(words.quizGiven, answer.answer.join(', ') || words.noAnswer)}
${!answer.right && renderGiven(words.quizCorrect, answer.correct.join(', '))}
${answer.explanation && renderRichText(answer.explanation, attributes({ class: 'prose' }))}</li>`;
}

const renderGiven = (label: string, answer: string): Html =>
  html`<p><span class="size">${label}</span> <bdi>${answer}</bdi></p>`;
