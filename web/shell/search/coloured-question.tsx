import './question.css';
import type { ReactElement } from 'react';
import { type QuestionPart, readQuestion } from '#ast/search.ts';

/** A question as the server reads it: operators, phrases, what must not be there and what is wrong each in a colour. */
export function ColouredQuestion({ text }: { text: string }): ReactElement {
  const { parts, problems } = readQuestion(text);
  const drawn: (string | ReactElement)[] = [];
  let at = 0;
  for (const part of parts) {
    const { begin, end } = part;
    const isWrong = problems.some((problem) => problem.begin === begin);
    drawn.push(
      text.slice(at, begin),
      <span key={begin} className={isWrong ? 'question-problem' : classOf(part)}>
        {text.slice(begin, end)}
      </span>,
    );
    at = end;
  }
  return (
    <span>
      {drawn}
      {text.slice(at)}
    </span>
  );
}

const classes: Readonly<Record<QuestionPart['kind'], string | undefined>> = {
  word: undefined,
  phrase: 'question-phrase',
  beginning: 'question-operator',
  operator: 'question-operator',
  field: 'question-operator',
};
const classOf = ({ kind, isNot }: QuestionPart): string | undefined =>
  isNot ? 'question-not' : classes[kind];
