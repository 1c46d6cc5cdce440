import type { Answers, AnswerValue } from './answers/check-answers.ts';
import { isElementId } from './attributes/attributes.ts';
import { getProperty, isRecord } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { memoizeByObject } from './basics/memoize.ts';
import { optionsById } from './basics/options.ts';
import { byteLength, cutToBytes } from './basics/text.ts';
import { answerKindOf, type Form, type InputElement, listQuestions } from './form/tree.ts';
import { type AnswerKind, isChoiceKind } from './types/rules.ts';

/** The inputs that can be the subject of a submission: text answers outside repeatable groups. */
export const subjectCandidates = memoizeByObject((form: Form): readonly InputElement[] =>
  listQuestions(form).flatMap((question) =>
    question.kind === 'input' && isText(question.element) ? [question.element] : [],
  ),
);

/** Returns whether an ID is a subject candidate. Without a form, returns whether it could be one. */
export function isSubjectElement(id: string, form: Form | undefined): boolean {
  return form ? subjectCandidates(form).some((input) => input.attrs.id === id) : isElementId(id);
}

const isText = (input: InputElement): boolean => ['text', 'moment'].includes(answerKindOf(input));

/**
 * Returns the subject of a form: the element in `settings.subject_element`, else the element with the ID
 * `subject`, else the first `text` element (docs/rules.md 11).
 */
export function subjectInputOf(form: Form, subjectElement?: string): InputElement | undefined {
  const candidates = subjectCandidates(form);
  const withId = (id: string | undefined) => candidates.find((input) => input.attrs.id === id);
  return withId(subjectElement) ?? withId('subject') ?? candidates.find((input) => input.type === 'text');
}

/**
 * Returns the searchable text of a submission (docs/rules.md 11): the subject, which ranks highest, and one
 * body of all other text answers and the reference values. Together they have at most `limits.searchBytes` of
 * UTF-8.
 */
export function searchableText(
  form: Form,
  answers: Answers,
  reference: Readonly<Record<string, string>>,
  subjectElement?: string,
): { subject: string; body: string } {
  const subjectInput = subjectInputOf(form, subjectElement);
  const subjectTexts: string[] = [];
  const bodyTexts: string[] = [];
  for (const { input, value } of walkAnswers(form, answers)) {
    const texts = input === subjectInput ? subjectTexts : bodyTexts;
    texts.push(...textsOf[answerKindOf(input)](value, input));
  }
  const subject = cutToBytes(subjectTexts.join('\n'), formLimits.searchBytes);
  const body = [...bodyTexts, ...Object.values(reference)].join('\n');
  return { subject, body: cutToBytes(body, formLimits.searchBytes - byteLength(subject)) };
}

/** Lists the labels of chosen options, so that search finds them in other languages of the form. */
export function chosenLabels(form: Form, answers: Answers): Set<string> {
  const labels = new Set<string>();
  for (const { input, value } of walkAnswers(form, answers))
    if (isChoiceKind(answerKindOf(input)))
      for (const label of textsOf[answerKindOf(input)](value, input)) labels.add(label);
  return labels;
}

/** Yields every answer with its input in form order, including rows of repeatable groups. */
function* walkAnswers(form: Form, answers: Answers): Generator<{ input: InputElement; value: AnswerValue }> {
  for (const question of listQuestions(form)) {
    const answer = getProperty(answers, question.element.attrs.id);
    if (answer === undefined) continue;
    if (question.kind === 'input') {
      yield { input: question.element, value: answer };
      continue;
    }
    for (const row of listOf(answer))
      for (const input of question.inputs) {
        const value = typeof row === 'object' ? getProperty<AnswerValue>(row, input.attrs.id) : undefined;
        if (value !== undefined) yield { input, value };
      }
  }
}

type ListItem = Extract<AnswerValue, readonly unknown[]>[number];

function listOf(value: AnswerValue): readonly ListItem[] {
  return Array.isArray(value) ? value : [];
}

const scalarText = (value: AnswerValue) =>
  typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];

const listedTexts = (value: AnswerValue): string[] =>
  listOf(value).filter((choice) => typeof choice === 'string');

/** Options are searched by their labels. */
const choiceTexts = (value: AnswerValue, { attrs }: InputElement): string[] =>
  [...scalarText(value), ...listedTexts(value)].map((id) => optionsById(attrs).get(id)?.label ?? id);

const textsOf: Record<AnswerKind, (value: AnswerValue, input: InputElement) => string[]> = {
  text: scalarText,
  moment: scalarText,
  choice: choiceTexts,
  number: scalarText,
  // "true" would match every submission.
  boolean: () => [],
  consent: () => [],
  choices: choiceTexts,
  order: choiceTexts,
  grid: (value, input) =>
    isRecord(value) ? Object.values(value).flatMap((cell) => choiceTexts(cell as AnswerValue, input)) : [],
  files: (value) =>
    listOf(value).flatMap((file) =>
      typeof file === 'object' && typeof file.filename === 'string' ? [file.filename] : [],
    ),
};
