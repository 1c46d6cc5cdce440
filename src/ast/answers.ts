import {
  checkAnswer,
  checkBlank,
  type CheckedAnswer,
  isBlank,
  kindOf,
  type PlainAnswer,
} from './answer-checks.ts';
import { fieldName, findInput, parseRowName, type QuestionsById, questionsById, type Row } from './fields.ts';
import { isRecord, own } from './json.ts';
import { limits } from './limits.ts';
import { firstProblems, quote } from './problems.ts';
import { type Form, type InputElement, listQuestions, type Question, walkElements } from './tree.ts';

/** An uploaded file as an answer stores it; its signed URL is made at each read (DESIGN 4.10). */
export type FileAnswer = {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
};

export type AnswerValue = PlainAnswer | FileAnswer[] | AnswerRow[];
/** One row of a repeatable composite: child id to answer. */
export type AnswerRow = { [id: string]: AnswerValue };
/** Element id to answer; blank answers are absent. Ids may be `toString`: read with `Object.hasOwn`. */
export type Answers = Record<string, AnswerValue>;

/** Uploaded files by HTML name: `photo`, or `group[0][photo]` in a row. */
export type AnswerFiles = ReadonlyMap<string, readonly FileAnswer[]>;

/** `field` is the element id, in a row `group[0][child]` with the number of the row as it was sent. */
export type AnswerError = { readonly field: string; readonly message: string };

export type AnswersResult =
  | { readonly ok: true; readonly answers: Answers }
  | { readonly ok: false; readonly errors: readonly AnswerError[] };

/**
 * Checks raw answers, from JSON or from `readFields`, against a valid form (DESIGN 4.10) and returns what is
 * stored: tidied values, without blank answers and blank rows. Files are taken from `files` only.
 * All problems come at once, in form order and then the unknown names. Accepts any value, never throws.
 */
export function checkAnswers(form: Form, raw: unknown, files: AnswerFiles): AnswersResult {
  const answers: Answers = {};
  const errors = firstProblems(fillAnswers(answers, form, raw, files), limits.answerErrors, {
    field: 'answers',
    message: `There are more problems; the first ${limits.answerErrors} are listed.`,
  });
  return errors.length === 0 ? { ok: true, answers } : { ok: false, errors };
}

type Problems = Generator<AnswerError, void>;
type RawRecord = Readonly<Record<string, unknown>>;
type GroupQuestion = Extract<Question, { kind: 'group' }>;

function* fillAnswers(answers: Answers, form: Form, raw: unknown, files: AnswerFiles): Problems {
  if (!isRecord(raw)) {
    yield { field: 'answers', message: 'The answers must be an object of element ids and values.' };
    return;
  }
  const questions = listQuestions(form);
  for (const question of questions) {
    if (question.kind === 'input') yield* fillInput(answers, question.element, raw, files);
    else yield* fillRows(answers, question, raw, files);
  }
  yield* checkNames(form, questions, raw, files);
}

function* fillInput(
  answers: Answers | AnswerRow,
  input: InputElement,
  raw: RawRecord,
  files: AnswerFiles,
  row?: Row,
): Problems {
  const { id, label } = input.attrs;
  const field = fieldName(input, row);
  const checked = checkInput(input, own(raw, id), files.get(field) ?? []);
  if (!checked.ok) yield { field, message: `${label}: ${checked.problem}` };
  else if (checked.value !== undefined) answers[id] = checked.value;
}

function checkInput(
  input: InputElement,
  value: unknown,
  files: readonly FileAnswer[],
): CheckedAnswer<PlainAnswer | FileAnswer[]> {
  const isUpload = kindOf(input) === 'files';
  if (!isUpload || !isBlank(value)) return checkAnswer(input, value);
  return files.length === 0 ? checkBlank(input) : { ok: true, value: [...files] };
}

function* fillRows(answers: Answers, question: GroupQuestion, raw: RawRecord, files: AnswerFiles): Problems {
  const { id: field, label } = question.element.attrs;
  const value = own(raw, field);
  if (!isBlank(value) && !Array.isArray(value)) {
    yield { field, message: `${label}: send a list of rows.` };
    return;
  }
  const sent: readonly unknown[] = Array.isArray(value) ? value : [];
  if (sent.length > limits.rows) {
    yield { field, message: `${label}: send at most ${limits.rows} rows.` };
    return;
  }
  const rows: AnswerRow[] = [];
  const count = Math.max(sent.length, fileRows(field, files));
  for (let index = 0; index < count; index += 1) {
    const row: AnswerRow = {};
    yield* fillRow(row, question, sent[index] ?? {}, files, index);
    if (Object.keys(row).length > 0) rows.push(row);
  }
  if (rows.length > 0) answers[field] = rows;
}

/** How many rows the files of a group reach; rows over the cap are refused by name. */
function fileRows(group: string, files: AnswerFiles): number {
  const rows = [...files.keys()].map(parseRowName).filter((part) => part?.group === group);
  return Math.min(limits.rows, Math.max(0, ...rows.map((part) => (part?.index ?? 0) + 1)));
}

/** A blank row stays empty, whatever it requires: the page always shows one row to fill in. */
function* fillRow(
  answers: AnswerRow,
  { element: group, inputs }: GroupQuestion,
  raw: unknown,
  files: AnswerFiles,
  index: number,
): Problems {
  const row = { group, index };
  const prefix = `${group.attrs.id}[${index}]`;
  if (!isRecord(raw)) {
    yield {
      field: prefix,
      message: `${group.attrs.label}: each row must be an object of element ids and values.`,
    };
    return;
  }
  const isAnswered = (input: InputElement) =>
    !isBlank(own(raw, input.attrs.id)) || !isBlank(files.get(fieldName(input, row)));
  if (inputs.some(isAnswered)) {
    for (const input of inputs) yield* fillInput(answers, input, raw, files, row);
  }
  const ids = new Set(inputs.map((input) => input.attrs.id));
  for (const key of Object.keys(raw)) {
    if (!ids.has(key)) {
      yield { field: `${prefix}[${key}]`, message: `${group.attrs.label} has no question ${quote(key)}.` };
    }
  }
}

function* checkNames(form: Form, list: readonly Question[], raw: RawRecord, files: AnswerFiles): Problems {
  const questions = questionsById(list);
  for (const name of Object.keys(raw)) {
    if (!questions.has(name)) yield { field: name, message: nameProblem(form, questions, name) };
  }
  for (const name of files.keys()) {
    const found = findInput(questions, name);
    if (!found) yield { field: name, message: nameProblem(form, questions, name) };
    else if (kindOf(found.input) !== 'files') {
      yield { field: name, message: `${found.input.attrs.label}: this takes no file.` };
    }
  }
}

function nameProblem(form: Form, questions: QuestionsById, name: string): string {
  const part = parseRowName(name);
  const group = part && questions.get(part.group);
  if (part && group?.kind === 'group' && part.index >= limits.rows) {
    return `${group.element.attrs.label}: send at most ${limits.rows} rows.`;
  }
  const isElement = [...walkElements(form)].some(({ element }) => element.attrs?.id === name);
  return isElement ? `${quote(name)} takes no answer here.` : `The form has no question ${quote(name)}.`;
}
