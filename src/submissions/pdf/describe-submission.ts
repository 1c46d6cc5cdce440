import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { type AnswerFormat, formatAnswerParts, formatMatrixRows } from '#ast/answers/format-answer.ts';
import { createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { GroupRow } from '#ast/form/fields.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  isVisibleToVisitors,
  listQuestions,
  type Question,
} from '#ast/form/tree.ts';
import type { ConsentAnswer } from '#ast/types/rules.ts';
import { ApiError } from '#kit/errors.ts';
import type { Certificate } from '../quiz-result.ts';
import type { PdfBlock, Picture } from './document.ts';
import type { PdfWords } from './words/words.ts';

/** The answers of a submission, and how to show them. */
export type DescribedAnswers = {
  /** The version that was answered, in the reader's language. */
  readonly form: Form;
  readonly answers: Answers;
  /** Whether hidden values and hidden calculations are left out. */
  readonly isForVisitor: boolean;
  readonly format: AnswerFormat;
  readonly signed: string;
  /** The pictures of files by file id; other files are listed by name. */
  readonly pictures: ReadonlyMap<string, Picture>;
};

/**
 * Returns the texts of a certificate below its title.
 * @throws ApiError not_found if there is none.
 */
export function describeCertificate(
  formName: string,
  { completed }: PdfWords,
  certificate: Certificate | undefined,
): PdfBlock[] {
  if (!certificate)
    throw new ApiError(
      'not_found',
      'This submission has no certificate: its form has none, or a pass mark is not reached.',
    );
  const { name, scores } = certificate;
  const lines = scores.map((text): PdfBlock => ({ kind: 'text', text }));
  return [
    { kind: name.length > 40 ? 'text' : 'signature', text: name },
    { kind: 'text', text: completed },
    question(2, formName),
    ...lines,
  ];
}

type Level = 2 | 3 | 4 | 5;

/** Returns the answers with the titles of their steps, in form order. Unanswered questions are left out. */
export function describeAnswers(given: DescribedAnswers): PdfBlock[] {
  const { form, answers, format } = given;
  // All elements count as shown, because hidden ones have no stored answers.
  const fill = createPlaceholderFiller({
    form,
    values: answers,
    files: new Map(),
    shown: { isShown: () => true },
    format,
  });
  let title: string | undefined;
  return form.children.flatMap((step) => {
    const isTitled = title !== undefined || step.attrs?.title !== undefined;
    const level = isTitled ? 3 : 2;
    const blocks = listQuestions({ ...form, children: [step] }).flatMap((asked) =>
      describeQuestion(given, fill, asked, level),
    );
    if (blocks.length === 0) return [];
    const isNew = step.attrs?.title !== undefined && step.attrs.title !== title;
    title = step.attrs?.title ?? title;
    return isNew ? [{ kind: 'step', level: 2, text: fill(title!) }, ...blocks] : blocks;
  });
}

const question = (level: Level, text: string): PdfBlock => ({ kind: 'question', level, text });

type Filler = (text: string, row?: GroupRow) => string;

function describeQuestion(given: DescribedAnswers, fill: Filler, asked: Question, level: 2 | 3): PdfBlock[] {
  const { element } = asked;
  const answer = getProperty(given.answers, element.attrs.id);
  if (answer === undefined) return [];
  const label = fill(element.attrs.label);
  if (asked.kind === 'input') return describeInput(given, asked.element, label, answer, level);
  return (answer as AnswerRow[]).flatMap((row, index) => [
    question(level, `${label} ${index + 1}`),
    ...asked.inputs.flatMap((input) => {
      const cell = getProperty(row, input.attrs.id);
      if (cell === undefined) return [];
      const own = fill(input.attrs.label, { group: asked.element, index });
      return describeInput(given, input, own, cell, level === 2 ? 3 : 4);
    }),
  ]);
}

function describeInput(
  given: DescribedAnswers,
  input: InputElement,
  label: string,
  answer: AnswerValue,
  level: Level,
): PdfBlock[] {
  if (given.isForVisitor && !isVisibleToVisitors(input)) return [];
  return [question(level, label), ...describeAnswer(given, input, answer)];
}

function describeAnswer(given: DescribedAnswers, input: InputElement, answer: AnswerValue): PdfBlock[] {
  const { format } = given;
  const kind = answerKindOf(input);
  if (kind === 'files') return (answer as FileAnswer[]).flatMap((file) => describeFile(given, input, file));
  const rows = formatMatrixRows(input, answer, format);
  if (rows) return [{ kind: 'table', rows }];
  const parts = formatAnswerParts(input, answer, format);
  const statement = kind === 'consent' ? [stripInlineMarkup((answer as ConsentAnswer).text)] : [];
  if (parts.length > 1) return [{ kind: 'list', items: parts, isNumbered: kind === 'order' }];
  return [...parts, ...statement].map((text) => ({ kind: 'text', text }));
}

function describeFile(
  { pictures, signed, format }: DescribedAnswers,
  { type }: InputElement,
  { id, filename, size, content_type }: FileAnswer,
): PdfBlock[] {
  const picture = pictures.get(id);
  const isSignature = type === 'signature';
  // A typed signature is an SVG file, named after the signer.
  if (isSignature && content_type === 'image/svg+xml')
    return [{ kind: 'signature', text: filename.replace(/\.svg$/, '') }];
  const name: PdfBlock = { kind: 'text', text: `${filename} (${formatFileSize(size, format.language)})` };
  if (!picture) return [name];
  const alt = isSignature ? signed : filename;
  return [{ kind: 'picture', alt, isSignature, picture }, ...(isSignature ? [] : [name])];
}
