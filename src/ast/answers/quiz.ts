import { memoizeByObject } from '../basics/memoize.ts';
import { cutMarks, trimText } from '../basics/text.ts';
import { isQuizQuestion, type QuizQuestion } from '../form/answer-key.ts';
import { formIndexOf } from '../form/form-index.ts';
import {
  answerKindOf,
  type Element,
  type Form,
  type InputElement,
  inputOptionsById,
  type PlacedElement,
  walkElements,
} from '../form/tree.ts';
import type { VisibleParts } from '../logic/evaluate.ts';
import { isListKind } from '../types/rules.ts';
import { type AnswerFormat, formatAnswerParts } from './format-answer.ts';

type ScoreElement = Extract<InputElement, { readonly type: 'score' }>;
type Placed<Kind extends Element> = PlacedElement & { readonly element: Kind };
type Values = Readonly<Record<string, unknown>>;

/** Returns whether a visitor with these answers sees an element. */
export type IsShown = (element: Element) => boolean;

/** The points of the questions of a score, and how many were possible. */
export type QuizScore = {
  readonly id: string;
  readonly label: string;
  readonly points: number;
  readonly of: number;
  /** Whether the pass mark is reached, if there is one. */
  readonly passed?: boolean;
};

/** A question of a quiz with its right answer, as people read it. */
export type QuizAnswer = {
  readonly id: string;
  readonly label: string;
  readonly right: boolean;
  readonly points: number;
  readonly of: number;
  /** One text for each choice; empty if the question is unanswered. */
  readonly answer: readonly string[];
  /** The options that are right together, or each right answer. */
  readonly correct: readonly string[];
  readonly explanation?: string;
};

/** Returns a check for elements of another form with these IDs, such as the form with the right answers. */
export const isShownById =
  (form: Form, { isShown }: Pick<VisibleParts, 'isShown'>): IsShown =>
  (element) =>
    isShown(formIndexOf(form).byId.get(element.attrs?.id ?? '')?.element ?? element);

type Quiz = {
  readonly questions: readonly Placed<QuizQuestion>[];
  readonly scores: readonly Placed<ScoreElement>[];
};

/** Lists the questions with a right answer and the scores of a form, in order. */
export const quizOf = memoizeByObject((form: Form): Quiz => {
  const placed = [...walkElements(form)];
  return {
    questions: placed.filter((each): each is Placed<QuizQuestion> => isQuizQuestion(each.element)),
    scores: placed.filter((each): each is Placed<ScoreElement> => each.element.type === 'score'),
  };
});

/** Returns the most points of a question. */
export const pointsOf = ({ attrs }: QuizQuestion): number => attrs.points ?? 1;

/** Lists the questions of a score: of its form or, with `section`, of its group or else its step. */
export function questionsOfScore(
  form: Form,
  { element, path, parent }: Placed<ScoreElement>,
): QuizQuestion[] {
  const around = element.attrs.counts === 'section' ? (parent ? path.slice(0, -1) : path.slice(0, 1)) : [];
  return quizOf(form).questions.flatMap((each) =>
    around.every((at, depth) => each.path[depth] === at) ? [each.element] : [],
  );
}

/** Returns the scores of answers. Questions that are not shown do not count; a score without any is left out. */
export function scoreAnswers(form: Form, values: Values, isShown: IsShown): QuizScore[] {
  return quizOf(form).scores.flatMap((placed) => {
    const questions = questionsOfScore(form, placed).filter(isShown);
    if (questions.length === 0 || !isShown(placed.element)) return [];
    const { id, label, pass_mark: mark } = placed.element.attrs;
    const points = sum(questions.map((question) => earnedPoints(question, values[question.attrs.id])));
    const of = sum(questions.map(pointsOf));
    return [{ id, label, points, of, ...(mark !== undefined && { passed: points >= mark }) }];
  });
}

/** Returns the answers with their scores, which replace scores that a client sent. */
export function withScores<Given extends Values>(form: Form, values: Given, isShown: IsShown): Given {
  const ids = new Set(quizOf(form).scores.map(({ element }) => element.attrs.id));
  if (ids.size === 0) return values;
  const others = Object.entries(values).filter(([id]) => !ids.has(id));
  const scores = scoreAnswers(form, values, isShown).map(({ id, points }) => [id, points] as const);
  return Object.fromEntries([...others, ...scores]) as Given;
}

/** Returns whether scores have passed: each one with a pass mark reaches it. */
export const isPassed = (scores: readonly QuizScore[]): boolean =>
  scores.length > 0 && scores.every(({ passed }) => passed !== false);

/** What visitors see of their result, as the setting `quiz_results` allows. */
export type QuizResult = { readonly scores: readonly QuizScore[]; readonly answers?: readonly QuizAnswer[] };

/** Lists the questions of a quiz that a visitor sees, with the given and the right answers. */
export const listQuizAnswers = (
  form: Form,
  values: Values,
  isShown: IsShown,
  { format, fill }: { readonly format: AnswerFormat; readonly fill: (label: string) => string },
): QuizAnswer[] =>
  quizOf(form).questions.flatMap(({ element }) => {
    if (!isShown(element)) return [];
    const { id, label, correct, explanation } = { explanation: undefined, ...element.attrs };
    const points = earnedPoints(element, values[id]);
    return {
      id,
      label: fill(label),
      right: isRight(element, values[id]),
      points,
      of: pointsOf(element),
      answer: formatAnswerParts(element, values[id], format),
      correct: formatAnswerParts(element, correct, format),
      ...(explanation !== undefined && { explanation }),
    };
  });

/** A right answer gets all points. Another one gets the points of its options, at most those of the question. */
function earnedPoints(question: QuizQuestion, value: unknown): number {
  if (isRight(question, value)) return pointsOf(question);
  const options = inputOptionsById(question);
  const partial = sum([value].flat().map((chosen) => options.get(chosen)?.points ?? 0));
  return Math.min(Math.max(partial, 0), pointsOf(question));
}

function isRight(question: QuizQuestion, value: unknown): boolean {
  const { correct } = question.attrs;
  const kind = answerKindOf(question);
  if (isListKind(kind))
    return (
      Array.isArray(value) && value.length === correct.length && correct.every((one) => value.includes(one))
    );
  const folded = (answer: unknown): unknown =>
    kind === 'text' && typeof answer === 'string' ? foldText(answer) : answer;
  const given = folded(value);
  return correct.some((one) => folded(one) === given);
}

/** Phones type curly apostrophes, and Japanese keyboards wide letters. Upper case also makes `ß` equal to `ss`. */
const foldText = (text: string): string =>
  trimText(cutMarks(text).normalize('NFKC')).replaceAll(/\s+/g, ' ').replaceAll(/[‘’]/g, "'").toUpperCase();

/** Adds numbers without the last digits, which are inexact in sums of tenths. */
const sum = (numbers: readonly number[]): number =>
  Number(numbers.reduce((total, number) => total + number, 0).toPrecision(12));
