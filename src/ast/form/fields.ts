import { getProperty, isRecord } from '../basics/json.ts';
import { answerLimits } from '../basics/limits.ts';
import { otherChoice, otherControlName } from '../basics/options.ts';
import { isReservedPageName } from '../basics/page-names.ts';
import { isBlank, normalizeText } from '../basics/text.ts';
import { isNumberMarks, type NumberMarks, plainMarks, readNumber } from '../rules/written-numbers.ts';
import { type AnswerKind, isListKind, type ListKind } from '../types/rules.ts';
import {
  answerKindOf,
  type Composite,
  type Form,
  type InputElement,
  inputAllowsOther,
  listQuestions,
  type Question,
  takesSeveralInRow,
} from './tree.ts';

/** A row of a repeatable group, counted from 0. */
export type GroupRow = { readonly group: Composite; readonly index: number };

/** Returns the HTML name of an input: its ID or, in a row, `group[0][child]` (docs/rules.md 14). */
export function fieldName(input: InputElement, row?: GroupRow): string {
  return row ? `${row.group.attrs.id}[${row.index}][${input.attrs.id}]` : input.attrs.id;
}

/** Parses a name `group[0][child]`. Returns undefined for other names. */
export function parseGroupFieldName(name: string): { group: string; index: number; id: string } | undefined {
  const [, group, index, id] = /^([^[\]]+)\[(0|[1-9]\d{0,2})\]\[([^[\]]+)\]$/.exec(name) ?? [];
  return group && index && id ? { group, index: Number(index), id } : undefined;
}

/** Returns the HTML name of a matrix row, `likes[tea]`. The row ID can be any text and is percent-encoded. */
export function matrixRowName(name: string, row: string): string {
  return `${name}[${encodeURIComponent(row)}]`;
}

/** Parses the HTML name of a matrix row. In a group row, it begins with `group[0][likes]`. */
export function parseMatrixRowName(name: string): { field: string; cell: string } | undefined {
  const [, field, cell] = /^([^[\]]+(?:\[\d{1,3}\]\[[^[\]]+\])?)\[([^[\]]+)\]$/.exec(name) ?? [];
  if (!field || !cell) return undefined;
  try {
    return { field, cell: decodeURIComponent(cell) };
  } catch {
    // The name was written by hand and contains a literal percent sign.
    return { field, cell };
  }
}

/** The input of an HTML name, with its group row if it has one. `cell` is the ID of a matrix row. */
type FoundInput = { readonly input: InputElement; readonly row?: GroupRow; readonly cell?: string };

export type QuestionsById = ReadonlyMap<string, Question>;

export function indexQuestionsById(questions: readonly Question[]): QuestionsById {
  return new Map(questions.map((question) => [question.element.attrs.id, question]));
}

/** Finds the input of an HTML name. Returns undefined for unknown names and for rows over the limit. */
export function findInput(questions: QuestionsById, name: string): FoundInput | undefined {
  const question = questions.get(name);
  if (question?.kind === 'input') return { input: question.element };
  const { field, cell } = parseMatrixRowName(name) ?? {};
  const matrix = field === undefined ? undefined : findInput(questions, field);
  if (matrix && answerKindOf(matrix.input) === 'grid') return { ...matrix, cell: cell! };
  const part = parseGroupFieldName(name);
  const group = part && questions.get(part.group);
  if (!part || group?.kind !== 'group' || part.index >= answerLimits.rows) return undefined;
  const input = group.inputs.find(({ attrs }) => attrs.id === part.id);
  return input && { input, row: { group: group.element, index: part.index } };
}

/** Counts the rows of a group that have answers or files, up to the limit. */
export function countRows(
  group: Composite,
  raw: Readonly<Record<string, unknown>>,
  files: ReadonlyMap<string, unknown>,
): number {
  const { id } = group.attrs;
  const sent = getProperty(raw, id);
  const fileRows = [...files.keys()].map((name) => {
    const part = parseGroupFieldName(name);
    return part?.group === id ? part.index + 1 : 0;
  });
  return Math.min(answerLimits.rows, Math.max(Array.isArray(sent) ? sent.length : 0, ...fileRows));
}

/** Returns the raw answers of a row, or undefined if there are none. */
export function rawAnswersOfRow(raw: Readonly<Record<string, unknown>>, { group, index }: GroupRow): unknown {
  const rows = getProperty(raw, group.attrs.id);
  return Array.isArray(rows) ? rows[index] : undefined;
}

/** Answers in the format of JSON, before `checkAnswers`. */
export type RawAnswers = Record<string, unknown>;

/**
 * Converts HTML fields (urlencoded, or the text parts of multipart) to raw answers as in JSON, so that both
 * are checked by the same rules (docs/rules.md 10, 14).
 * - Names that begin with an underscore are controls of the page, unless a question has that name. They are
 * returned in `extra`.
 * - The free text of a selection is sent as `_other[<name>]`. It replaces the choice `_other`, and also
 * counts if nothing was chosen. Without a text, the choice stays and the check asks for a text.
 * - Numbers are read in the format that the control `_numbers` specifies, or without this control in the
 * format of JSON.
 * - Several non-blank values for a name that accepts one value become a list, which the check rejects.
 * - A value of the wrong type (`abc` for a number) stays text, which the check rejects.
 * - Rows keep their number, so that files can be matched to their row. Missing rows are empty objects, which
 * the check drops.
 * - Other names, and rows over the limit, are kept under their name, which the check rejects.
 */
export function parseRawAnswers(
  form: Form,
  entries: Iterable<readonly [name: string, value: string]>,
): { raw: RawAnswers; extra: [string, string][] } {
  const questions = indexQuestionsById(listQuestions(form));
  const raw = emptyAnswers();
  const extra: [string, string][] = [];
  const fields: (readonly [string, string])[] = [];
  for (const [sentName, sentValue] of entries) {
    const [name, value] = [normalizeText(sentName), normalizeText(sentValue)];
    if (isPageControlName(questions, name)) extra.push([name, value]);
    else fields.push([name, value]);
  }
  const [, sent] = extra.find(([name]) => name === numberFormatControl) ?? [];
  const numbers = isNumberMarks(sent) ? sent : plainMarks;
  for (const [name, value] of fields) readField(raw, questions, { name, value, numbers });
  const texts = extra.filter(([name, text]) => name.startsWith(`${otherChoice}[`) && !isBlank(text));
  for (const [control, [one, another]] of Map.groupBy(texts, ([name]) => name))
    readOther(raw, questions, control, another ? [one![1], another[1]] : [one![1]]);
  return { raw, extra };
}

/** Returns whether a name belongs to the page rather than to a question. Such a name begins with `_`. */
export const isPageControlName = (questions: QuestionsById, name: string): boolean =>
  name.startsWith('_') && (isReservedPageName(name) || !findInput(questions, name));

/** The name of the control with the number format of the page (`NumberMarks`). */
export const numberFormatControl = '_numbers';

function readOther(
  raw: RawAnswers,
  questions: QuestionsById,
  control: string,
  texts: readonly string[],
): void {
  const name = control.slice(otherChoice.length + 1, -1);
  const found = findInput(questions, name);
  if (!found || control !== otherControlName(name) || !inputAllowsOther(found.input)) return;
  const holder = found.row ? rowOf(raw, found.row) : raw;
  const { id } = found.input.attrs;
  const chosen = holder[id];
  if (answerKindOf(found.input) === 'choices') {
    const choices = isBlank(chosen) ? [otherChoice] : chosen;
    if (Array.isArray(choices))
      holder[id] = choices.flatMap<unknown>((choice) => (choice === otherChoice ? texts : [choice]));
  } else if (isBlank(chosen) || chosen === otherChoice) holder[id] = texts.length === 1 ? texts[0] : texts;
}

// Names come from outside. Without a prototype, `__proto__` is an ordinary name.
function emptyAnswers(): RawAnswers {
  return Object.create(null) as RawAnswers;
}

type SentField = { readonly name: string; readonly value: string; readonly numbers: NumberMarks };

function readField(raw: RawAnswers, questions: QuestionsById, field: SentField): void {
  const found = findInput(questions, field.name);
  if (!found) raw[field.name] = field.value;
  else {
    const holder = found.row ? rowOf(raw, found.row) : raw;
    if (found.cell === undefined) putValue(holder, found.input, field);
    else putCell(holder, found.input, found.cell, field.value);
  }
}

/** Returns the raw answers of a row. Creates the rows before it, so that each row keeps its index. */
function rowOf(raw: RawAnswers, { group, index }: GroupRow): RawAnswers {
  const rows = listOf<RawAnswers>(raw, group.attrs.id);
  while (rows.length <= index) rows.push(emptyAnswers());
  return rows[index]!;
}

/** Returns the list under an ID. A text sent for a group stays, so that the check rejects it. */
function listOf<Item>(raw: RawAnswers, id: string): Item[] {
  raw[id] ??= [];
  return Array.isArray(raw[id]) ? raw[id] : [];
}

function putValue(raw: RawAnswers, input: InputElement, { value, numbers }: SentField): void {
  const id = input.attrs.id;
  const kind = answerKindOf(input);
  const known = raw[id];
  if (isListKind(kind)) {
    if (value !== '') listOf<string>(raw, id).push(value);
  } else if (isBlank(known)) raw[id] = decoders[kind](value, numbers);
  // Two values are enough to reject the field, so the list does not grow with the request.
  else if (!isBlank(value) && !Array.isArray(known)) raw[id] = [known, value];
}

function putCell(holder: RawAnswers, input: InputElement, cell: string, value: string): void {
  if (value === '') return;
  const cells = (holder[input.attrs.id] ??= emptyAnswers());
  if (!isRecord(cells)) return;
  if (takesSeveralInRow(input)) listOf<string>(cells, cell).push(value);
  else cells[cell] = Object.hasOwn(cells, cell) ? [cells[cell], value].slice(0, 2) : value;
}

const asSent = (value: string) => value;

type Decoder = (value: string, numbers: NumberMarks) => string | number | boolean;

function yesOrNo(value: string): boolean | string {
  if (['yes', 'true', 'on'].includes(value)) return true;
  return ['no', 'false'].includes(value) ? false : value;
}

const decoders: Record<Exclude<AnswerKind, ListKind>, Decoder> = {
  text: asSent,
  moment: asSent,
  choice: asSent,
  files: asSent,
  grid: asSent,
  number: (value, numbers) => readNumber(value, numbers) ?? value,
  boolean: yesOrNo,
  consent: yesOrNo,
};
