import { getProperty, isRecord } from '../basics/json.ts';
import { answerLimits } from '../basics/limits.ts';
import { createWorkBudget } from '../basics/work.ts';
import { fieldName, type GroupRow, rawAnswersOfRow } from '../form/fields.ts';
import { formIndexOf } from '../form/form-index.ts';
import { fillPiped } from '../form/piping.ts';
import { tidyAnswer } from '../form/tidy.ts';
import { answerKindOf, type Form, type InputElement, isCalculation, isInput } from '../form/tree.ts';
import type { VisibleParts } from '../logic/evaluate.ts';
import { type AnswerFormat, formatAnswerParts, formatMatrixRows } from './format-answer.ts';

/** Fills the placeholders of a text with answers. If the text belongs to a row, pass it as `row`. */
export type PlaceholderFiller = (text: string, row?: GroupRow) => string;

/** The answers of a visitor, and how to format them. */
type VisitorAnswers = {
  readonly form: Form;
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, readonly { readonly filename: string }[]>;
  /** If `calculated` is missing, the stored results among the values are used. */
  readonly shown: Pick<VisibleParts, 'isShown'> & Partial<Pick<VisibleParts, 'calculated'>>;
  readonly format: AnswerFormat;
};

/** Formats an answer as one string for each choice or file, and none if it is blank. */
export function formatVisitorAnswer(
  { values, files, shown, format }: Pick<VisitorAnswers, 'values' | 'files' | 'shown' | 'format'>,
  input: InputElement,
  row?: GroupRow,
): string[] {
  if (isCalculation(input) && shown.calculated)
    return formatAnswerParts(input, shown.calculated(input, row), format);
  const value = valueOf(values, input, row);
  if (answerKindOf(input) !== 'files')
    return formatAnswerParts(input, tidyAnswer(input, value, createWorkBudget()), format);
  const found: unknown = files.get(fieldName(input, row)) ?? value;
  return (Array.isArray(found) ? found : []).flatMap((file: unknown) =>
    isRecord(file) && typeof file['filename'] === 'string' ? [file['filename']] : [],
  );
}

/** Formats the rows of a matrix that a visitor answered; undefined for other questions. */
export const formatVisitorMatrix = (
  { values, format }: Pick<VisitorAnswers, 'values' | 'format'>,
  input: InputElement,
  row?: GroupRow,
): [label: string, answer: string][] | undefined =>
  formatMatrixRows(input, tidyAnswer(input, valueOf(values, input, row), createWorkBudget()), format);

function valueOf(values: VisitorAnswers['values'], input: InputElement, row: GroupRow | undefined): unknown {
  const holder = row ? rawAnswersOfRow(values, row) : values;
  return isRecord(holder) ? getProperty(holder, input.attrs.id) : undefined;
}

/**
 * Formats each answer on one line, or as an empty string if it is blank or hidden. Formats each answer only
 * once, because an answer can have 65,000 characters and appear in 500 labels of 100 rows.
 */
export function createAnswerFormatter(given: VisitorAnswers): (id: string, row?: GroupRow) => string {
  const { byId } = formIndexOf(given.form);
  const list = new Intl.ListFormat(given.format.language);
  const formatted = new Map<string, string>();
  const formatOne = (input: InputElement, place: GroupRow | undefined): string => {
    if (!given.shown.isShown(input, place)) return '';
    const text = list.format(formatVisitorAnswer(given, input, place));
    return cut(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim());
  };
  return (id, row) => {
    const { element, group } = byId.get(id) ?? {};
    if (!element || !isInput(element) || (group && row?.group !== group)) return '';
    const place = group && row;
    const name = fieldName(element, place);
    const text = formatted.get(name) ?? formatOne(element, place);
    formatted.set(name, text);
    return text;
  };
}

/** Fills the texts of a form with these answers. */
export function createPlaceholderFiller(given: VisitorAnswers): PlaceholderFiller {
  const formatAnswer = createAnswerFormatter(given);
  return (text, row) => fillPiped(text, (id) => formatAnswer(id, row));
}

function cut(text: string): string {
  const most = answerLimits.pipedCharacters;
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}
