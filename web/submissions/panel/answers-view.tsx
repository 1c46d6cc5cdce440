import type { ReactElement } from 'react';
import type { AnswerRow, AnswerValue } from '#ast/answers/check-answers.ts';
import { listQuizAnswers, type QuizAnswer } from '#ast/answers/quiz.ts';
import { formatCount } from '#ast/basics/format-number.ts';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { getProperty } from '#ast/basics/json.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import { type InputElement, listQuestions, type Question } from '#ast/form/tree.ts';
import { isEmail, isUrl } from '#ast/rules/text-formats.ts';
import type { LinkedFile, SubmissionDetail } from '#submissions/shapes.ts';
import { MarkedText } from '../../design/author-text.tsx';
import { HighlightedText } from '../../design/highlighted-text.tsx';
import { Icon } from '../../design/icon.tsx';
import {
  answeredMatrixRows,
  formatConsent,
  formatSingleAnswer,
  isConsent,
  isFile,
  isRow,
  type QuestionDisplay,
  questionDisplay,
} from '../answer-text.tsx';

/** Files of spam submissions have no URL yet. */
type ListedFile = Omit<LinkedFile, 'url'> & { url?: string };

/** Lists files as download links, with a preview for images that are safe to show. */
function FileList({
  files,
  isWhole = false,
  hits,
}: {
  files: readonly ListedFile[];
  /** Whether images are shown uncropped, as signatures are. */
  isWhole?: boolean;
  hits: readonly string[];
}): ReactElement {
  return (
    <ul className="files">
      {files.map((file) => (
        <li key={file.id}>
          <a href={file.url} className="file" download>
            {file.url && shownImages.includes(file.content_type) ? (
              <img
                src={addressHere(file.url)}
                alt=""
                className={isWhole ? 'file-preview is-whole' : 'file-preview'}
                loading="lazy"
              />
            ) : (
              <Icon name="file" />
            )}
            <span className="file-text">
              <span>
                <HighlightedText text={file.filename} hits={hits} />
              </span>
              <span className="soft small">{formatFileSize(file.size)}</span>
            </span>
            {file.url && <Icon name="download" />}
          </a>
        </li>
      ))}
    </ul>
  );
}

/**
 * The image types that browsers render without running scripts. The service detects types by content, and
 * stores SVG only for drawings that it made itself.
 */
const shownImages: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/svg+xml',
];

/** Links use the public URL of the service, but this page may load images only from its own origin. */
function addressHere(link: string): string {
  const { pathname, search } = new URL(link);
  return pathname + search;
}

type Shown = Pick<SubmissionDetail, 'answers' | 'structure' | 'hits'>;

/**
 * Shows the answers in the order of the form version that was answered. Unanswered questions are listed
 * together at the end.
 */
export function AnswersView({ submission }: { submission: Shown }): ReactElement {
  const { answers, structure, hits } = submission;
  const questions = listQuestions(withPipedLabels(structure));
  const isAnswered = (question: Question): boolean =>
    getProperty(answers, question.element.attrs.id) !== undefined;
  const blank = questions.filter((question) => !isAnswered(question));
  const marks = new Map(
    listQuizAnswers(structure, answers, () => true, quizView).map((each) => [each.id, each]),
  );
  return (
    <section className="answers" aria-label="Answers">
      <dl className="answer-list">
        {questions.filter(isAnswered).map((question) => (
          <div key={question.element.attrs.id} className="answer">
            <dt>{question.element.attrs.label}</dt>
            <dd>
              <QuestionAnswer
                question={question}
                value={getProperty(answers, question.element.attrs.id)!}
                hits={hits}
              />
              <QuizMark answer={marks.get(question.element.attrs.id)} />
            </dd>
          </div>
        ))}
      </dl>
      {blank.length > 0 && (
        <details className="answers-blank">
          <summary>{formatCount(blank.length, 'question')} without an answer</summary>
          <ul>
            {blank.map(({ element }) => (
              <li key={element.attrs.id}>{element.attrs.label}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The interface is in English, with numbers and dates in the format of the browser. */
const quizView = {
  format: { language: 'en', numberLocale: navigator.language, words: { yes: 'Yes', no: 'No' } },
  fill: (label: string): string => label,
};

/** Says whether the answer to a question of a quiz is right, and what is. */
function QuizMark({ answer }: { answer: QuizAnswer | undefined }): ReactElement | null {
  if (!answer) return null;
  const { right, points, of, correct } = answer;
  const mark = right
    ? 'Right'
    : `${points > 0 ? 'Partly right' : 'Wrong'}. Right answer: ${correct.join(', ')}`;
  return (
    <p className="soft small">
      {mark} · {points} of {formatCount(of, 'point')}
    </p>
  );
}

type AnswerProps = { value: AnswerValue; hits: readonly string[] };

function QuestionAnswer({ question, value, hits }: AnswerProps & { question: Question }): ReactElement {
  if (question.kind === 'input')
    return <Answer value={value} display={questionDisplay(question)} hits={hits} />;
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  return (
    <ol className="answer-rows">
      {rows.filter(isRow).map((row, index) => (
        <li key={index}>
          <RowAnswers inputs={question.inputs} row={row} hits={hits} />
        </li>
      ))}
    </ol>
  );
}

type RowAnswersProps = { inputs: readonly InputElement[]; row: AnswerRow; hits: readonly string[] };

function RowAnswers({ inputs, row, hits }: RowAnswersProps): ReactElement {
  return (
    <dl className="answer-row">
      {inputs.map((element) => {
        const { attrs } = element;
        const value = getProperty(row, attrs.id);
        return (
          value !== undefined && (
            <div key={attrs.id}>
              <dt>{attrs.label}</dt>
              <dd>
                <Answer value={value} display={questionDisplay({ element })} hits={hits} />
              </dd>
            </div>
          )
        );
      })}
    </dl>
  );
}

/** Shows one answer in full. Only URLs and email addresses become links. */
function Answer({ value, display, hits }: AnswerProps & { display: QuestionDisplay }): ReactElement {
  const { type } = display;
  if (isConsent(value)) {
    return (
      <>
        <span className="answer-text">
          {formatConsent(value)}, version {value.version} of the form
        </span>
        <blockquote className="answer-quote">
          <MarkedText text={value.text} />
        </blockquote>
      </>
    );
  }
  if (isRow(value)) {
    return (
      <dl className="answer-row">
        {answeredMatrixRows(value, display).map(({ id, label, cell }) => (
          <div key={id}>
            <dt>{label}</dt>
            <dd>
              <Answer value={cell} display={display} hits={hits} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  if (!Array.isArray(value)) {
    const text = formatSingleAnswer(value, display);
    const marked = <HighlightedText text={text} hits={hits} />;
    if (type === 'url' && isUrl(text))
      return (
        <a href={text} target="_blank" rel="noopener noreferrer nofollow">
          {marked}
        </a>
      );
    if (type === 'email' && isEmail(text)) return <a href={`mailto:${encodeURIComponent(text)}`}>{marked}</a>;
    return <span className="answer-text">{marked}</span>;
  }
  const items: readonly unknown[] = value;
  if (items.some(isFile))
    return (
      <FileList files={items.filter(isFile) as LinkedFile[]} isWhole={type === 'signature'} hits={hits} />
    );
  const [first, ...others] = items;
  // A choice that is stored as a list with one item is shown as a single choice.
  if (others.length === 0 && type !== 'composite')
    return (
      <span className="answer-text">
        <HighlightedText text={formatSingleAnswer(String(first), display)} hits={hits} />
      </span>
    );
  return (
    <ul className="answer-choices">
      {items.map((item, index) => (
        <li key={index}>
          <HighlightedText text={formatSingleAnswer(String(item), display)} hits={hits} />
        </li>
      ))}
    </ul>
  );
}
