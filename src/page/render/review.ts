import type { AnswerFormat } from '#ast/answers/format-answer.ts';
import { formatVisitorAnswer, formatVisitorMatrix } from '#ast/answers/format-piped.ts';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { countRows, fieldName, type GroupRow, type RawAnswers } from '#ast/form/fields.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { fillPiped } from '#ast/form/piping.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  isAnsweredByVisitor,
  isCalculation,
  isVisibleToVisitors,
  listQuestions,
  type Question,
} from '#ast/form/tree.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { attributes, type FormatAnswer, type Html, html } from '../markup/html.ts';
import type { Words } from '../words/words.ts';
import { rowName } from './elements/rows.ts';

/** Renders the rows that have an answer. A group without answers gets one entry that says so. */
function* rowLists(
  review: Review,
  { element: group, inputs }: Extract<Question, { kind: 'group' }>,
): Generator<Html, void> {
  const { id } = group.attrs;
  const label = fillReviewLabel(review, group.attrs.label);
  const { words, shown } = review;
  let isBlank = true;
  for (let index = 0; index < countRows(group, review.values, review.files); index += 1) {
    const row = { group, index };
    const visible = inputs.filter((input) => isVisibleToVisitors(input) && shown.isShown(input, row));
    const isGiven = (input: InputElement): boolean =>
      isAnsweredByVisitor(input) && formatReviewedAnswer(review, input, row).length > 0;
    if (!visible.some(isGiven)) continue;
    isBlank = false;
    yield html`<h4>${fillTemplate(words.row, { label, number: index + 1 })}</h4>`;
    yield renderAnswerList(visible.map((input) => renderInputEntry(review, input, row)));
  }
  if (isBlank)
    yield renderAnswerList([renderReviewEntry(review, { label, answer: [], name: rowName(id, 0) })]);
}

/** Renders the questions between two repeatable groups as one list, and each of their rows as another. */
function* listsOf(review: Review, questions: readonly Question[]): Generator<Html, void> {
  let entries: Html[] = [];
  for (const question of questions) {
    if (!isVisibleToVisitors(question.element) || !review.shown.isShown(question.element)) continue;
    if (question.kind === 'input') {
      entries.push(renderInputEntry(review, question.element));
      continue;
    }
    if (entries.length > 0) yield renderAnswerList(entries);
    entries = [];
    yield* rowLists(review, question);
  }
  if (entries.length > 0) yield renderAnswerList(entries);
}

/** The page's own words in the review. */
export type ReviewWords = Pick<Words, 'change' | 'noAnswer' | 'row' | 'yes' | 'no' | 'signed'>;

type ReviewedFile = { readonly filename: string; readonly size: number };

/** The answers of a page, and how to format them. */
export type Review = Omit<AnswerFormat, 'words'> & {
  readonly form: Form;
  readonly values: RawAnswers;
  readonly files: ReadonlyMap<string, readonly ReviewedFile[]>;
  /** Returns the addresses of the pictures of a field's files, where the browser has them. */
  readonly picturesOf?: (field: string) => readonly (string | undefined)[];
  readonly shown: VisibleParts;
  readonly words: ReviewWords;
  readonly formatAnswer: FormatAnswer;
};

/** Returns the `_go` value of the button that opens a field for changing. */
export const changeButtonValue = (name: string): string => `change:${name}`;

/**
 * Renders every question shown, with its answer and a button to change it, under the title of its step. The
 * buttons are plain form posts.
 */
export function renderReview(review: Review): Html {
  let title: string | undefined;
  const parts = review.form.children.flatMap((step, index) => {
    if (!review.shown.steps.includes(index)) return [];
    const lists = [...listsOf(review, listQuestions({ ...review.form, children: [step] }))];
    const own = step.attrs?.title;
    const isNew = own !== title && lists.length > 0;
    if (lists.length > 0) title = own;
    return [...(isNew && own ? [html`<h3>${fillReviewLabel(review, own)}</h3>`] : []), ...lists];
  });
  return html`<div class="review">
${parts}
</div>`;
}

const renderAnswerList = (entries: readonly Html[]): Html => html`<dl class="answers">
${entries}
</dl>`;

const renderInputEntry = (review: Review, input: InputElement, row?: GroupRow): Html =>
  renderReviewEntry(review, {
    label: fillReviewLabel(review, input.attrs.label, row),
    answer: renderAnswer(review, input, row),
    name: isCalculation(input) ? undefined : fieldName(input, row),
    place:
      row &&
      fillTemplate(review.words.row, {
        label: fillReviewLabel(review, row.group.attrs.label),
        number: row.index + 1,
      }),
  });

const fillReviewLabel = ({ formatAnswer }: Review, label: string, row?: GroupRow): string =>
  fillPiped(label, (id) => formatAnswer(id, row));

type Entry = {
  readonly label: string;
  readonly answer: readonly Html[];
  /** The field to change; undefined for a calculation. */
  readonly name: string | undefined;
  /** The row, for screen readers that announce a button without its context. */
  readonly place?: string | undefined;
};

function renderReviewEntry({ words }: Review, { label, answer, name, place }: Entry): Html {
  const change =
    name !== undefined &&
    html`<button${attributes({ type: 'submit', name: '_go', value: changeButtonValue(name), class: 'change' })}>${words.change}<span class="unseen"> ${place && `${place} – `}${label}</span></button>`;
  return html`<div>
<dt>${label}</dt>
<dd>${answer.length > 0 ? answer : html`<p class="size">${words.noAnswer}</p>`}</dd>
${change && html`<dd>${change}</dd>`}
</div>`;
}

const formatReviewedAnswer = (review: Review, input: InputElement, row?: GroupRow): string[] =>
  formatVisitorAnswer({ ...review, format: review }, input, row);

/** Renders an answer as people know it: a matrix as a table, a file with its picture and size. */
function renderAnswer(review: Review, input: InputElement, row?: GroupRow): Html[] {
  if (answerKindOf(input) === 'files') {
    const field = fieldName(input, row);
    // Only a signature is always one file.
    const rules: Partial<InputRules> = inputRules[input.type];
    const pictures = review.picturesOf?.(field) ?? [];
    return (review.files.get(field) ?? []).map((file, index) =>
      rules.files?.max_files === 1
        ? renderSignature(review, file, pictures[index])
        : renderFile(review, file, pictures[index]),
    );
  }
  const matrix = formatVisitorMatrix({ values: review.values, format: review }, input, row);
  if (matrix?.length) {
    const lines = matrix.map(([label, cell]) => html`<tr><th scope="row">${label}</th><td>${cell}</td></tr>`);
    return [html`<table>${lines}</table>`];
  }
  return formatReviewedAnswer(review, input, row).map((one) => html`<p>${one}</p>`);
}

const renderFile = ({ language }: Review, { filename, size }: ReviewedFile, src?: string): Html =>
  html`<p class="file">${src && html`<img${attributes({ src, alt: '' })}>`}<span><bdi>${filename}</bdi> <span class="size">${formatFileSize(size, language)}</span></span></p>`;

/** A typed name is the name of the file; a drawing has the name `signature`. */
function renderSignature({ words }: Review, { filename }: ReviewedFile, src?: string): Html {
  const typed = filename.replace(/\.(?:png|svg)$/, '');
  const alt = typed === 'signature' ? words.signed : typed;
  return src ? html`<img${attributes({ src, alt, class: 'signed' })}>` : html`<p>${alt}</p>`;
}
