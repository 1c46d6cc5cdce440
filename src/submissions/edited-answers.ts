import {
  type AnswerContext,
  type AnswerError,
  type AnswerFiles,
  type AnswerRow,
  type Answers,
  type AnswersResult,
  checkAnswers,
  type FileAnswer,
} from '#ast/answers/check-answers.ts';
import { getProperty, isRecord, isSameJson } from '#ast/basics/json.ts';
import { fieldName, type GroupRow, type RawAnswers } from '#ast/form/fields.ts';
import {
  answerKindOf,
  type Form,
  type FormNode,
  type InputElement,
  isDerived,
  listQuestions,
} from '#ast/form/tree.ts';
import { findCarriedFiles } from '#files/stored-files.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import type { FormKey } from './change-event.ts';
import type { SubmissionStatus } from './submission-rows.ts';

/**
 * The answers that a member entered, with the answers before the edit, the status and the context for the
 * check.
 */
type AnswersEdit = {
  raw: unknown;
  stored: Answers;
  status: SubmissionStatus;
  context: AnswerContext;
  /** Uploaded files that no submission owns yet. */
  arrived?: readonly ArrivedFile[];
};

/** An uploaded file with its question. */
export type ArrivedFile = FileAnswer & { element: string };

/**
 * Checks answers by the visitor's rules: against the version that was answered, without questions that are
 * not asked. Required answers may be missing while the submission is incomplete. Files are kept by id (an
 * object with the id, or the id alone), removed if omitted, and added if they were uploaded.
 */
export function checkVisitorAnswers(form: Form, edit: AnswersEdit): AnswersResult {
  const { raw, files, errors } = extractNamedFiles(form, edit.raw, {
    stored: filesById(form, edit.stored),
    arrived: edit.arrived ?? [],
  });
  const checkedForm = edit.status === 'incomplete' ? withoutAttributes(form, required) : form;
  const checked = checkAnswers(checkedForm, raw, files, edit.context);
  if (errors.length === 0) return checked;
  return { ok: false, errors: checked.ok ? errors : [...errors, ...checked.errors] };
}

type EditResult =
  | {
      readonly ok: true;
      readonly answers: Answers;
      /** The questions that have an answer although other answers hide them. */
      readonly unasked: string[];
    }
  | { readonly ok: false; readonly errors: readonly AnswerError[] };

/**
 * Checks a member's edit. Unlike `checkVisitorAnswers`, it keeps answers to hidden questions, checked by their
 * own rules: a visitor gave them, and only omitting them removes them.
 */
export function checkEditedAnswers(form: Form, edit: AnswersEdit): EditResult {
  const visible = checkVisitorAnswers(form, edit);
  const all = checkVisitorAnswers(withoutAttributes(form, [...required, ...hiding]), edit);
  if (visible.ok && all.ok) {
    const answers = withResultsOf(form, all.answers, visible.answers);
    const isUnasked = (id: string) => !isSameJson(getProperty(answers, id), getProperty(visible.answers, id));
    return { ok: true, answers, unasked: Object.keys(answers).filter(isUnasked) };
  }
  const errors = visible.ok ? [] : visible.errors;
  const known = new Set(errors.map(({ field }) => field));
  return {
    ok: false,
    errors: [...errors, ...(all.ok ? [] : all.errors.filter(({ field }) => !known.has(field)))],
  };
}

/**
 * Replaces the calculated results with those of the other answers: hidden answers are kept, but do not count
 * in formulas.
 */
export function withResultsOf(form: Form, answers: Answers, others: Answers): Answers {
  const taken = (inputs: readonly InputElement[], into: Answers, from: Answers): Answers => {
    const ids = inputs.flatMap((input) => (isDerived(input) ? [input.attrs.id] : []));
    const rest = Object.entries(into).filter(([id]) => !ids.includes(id));
    return Object.fromEntries([...rest, ...Object.entries(from).filter(([id]) => ids.includes(id))]);
  };
  const questions = listQuestions(form);
  const merged = taken(
    questions.flatMap(({ kind, element }) => (kind === 'input' ? [element] : [])),
    answers,
    others,
  );
  for (const question of questions) {
    const { id } = question.element.attrs;
    const [rows, otherRows] = [getProperty(merged, id), getProperty(others, id)];
    // If all rows are hidden, their results are not recalculated.
    if (
      question.kind === 'input' ||
      !Array.isArray(rows) ||
      !Array.isArray(otherRows) ||
      rows.length !== otherRows.length
    )
      continue;
    merged[id] = (rows as AnswerRow[]).map((row, index) =>
      taken(question.inputs, row, (otherRows as AnswerRow[])[index]!),
    );
  }
  return merged;
}

/** Returns every file of a submission's answers. */
export const listFiles = (form: Form, answers: Answers): FileAnswer[] => [
  ...filesById(form, answers).values(),
];

type RawRecord = Readonly<Record<string, unknown>>;

/** Yields every upload question in the answers, with the object that contains its files. */
export function* uploadsIn(
  form: Form,
  answers: RawRecord,
): Generator<{ input: InputElement; holder: RawRecord; row?: GroupRow }> {
  for (const question of listQuestions(form)) {
    if (question.kind === 'input') {
      if (answerKindOf(question.element) === 'files') yield { input: question.element, holder: answers };
      continue;
    }
    const rows = getProperty(answers, question.element.attrs.id);
    for (const [index, holder] of (Array.isArray(rows) ? rows : []).entries()) {
      if (!isRecord(holder)) continue;
      for (const input of question.inputs)
        if (answerKindOf(input) === 'files') yield { input, holder, row: { group: question.element, index } };
    }
  }
}

function filesById(form: Form, answers: Answers): Map<string, FileAnswer> {
  const files = [...uploadsIn(form, answers)].flatMap(
    ({ input, holder }) => getProperty(holder, input.attrs.id) ?? [],
  );
  return new Map((files as FileAnswer[]).map((file) => [file.id, file]));
}

/** Moves named files out of the sent answers, because the check reads them separately. */
export function extractNamedFiles(
  form: Form,
  sent: unknown,
  { stored, arrived }: { stored?: ReadonlyMap<string, FileAnswer>; arrived: readonly ArrivedFile[] },
): { raw: unknown; files: AnswerFiles; errors: AnswerError[] } {
  const files = new Map<string, FileAnswer[]>();
  const errors: AnswerError[] = [];
  if (!isRecord(sent)) return { raw: sent, files, errors };
  const raw = structuredClone(sent);
  const left = new Map(stored);
  const news = new Map(arrived.map((file) => [`${file.element}/${file.id}`, file]));
  for (const { input, holder, row } of uploadsIn(form, raw)) {
    const { id, label } = input.attrs;
    const value = getProperty(holder, id);
    if (value === undefined || value === null) continue;
    Reflect.deleteProperty(holder, id);
    const kept = (Array.isArray(value) ? value : [value]).map(
      (item) => extractFile(left, idOf(item)) ?? extractFile(news, `${id}/${idOf(item)}`),
    );
    const field = fieldName(input, row);
    if (kept.includes(undefined))
      errors.push({
        field,
        message: `${label}: file not found. Use a file uploaded for this question within the last day.`,
      });
    const known = kept.filter((file) => file !== undefined);
    if (known.length > 0) files.set(field, known);
  }
  return { raw, files, errors };
}

const idOf = (item: unknown): string => String(isRecord(item) ? getProperty(item, 'id') : item);

/** Returns the named file and removes it from the map, because a file can be named only once. */
function extractFile(left: Map<string, FileAnswer>, name: string): FileAnswer | undefined {
  const found = left.get(name);
  left.delete(name);
  if (!found) return undefined;
  const { id, filename, size, content_type } = found;
  return { id, filename, size, content_type };
}

/** Attributes that need the answers to all questions, and attributes that hide questions. */
const required = ['required', 'require_when', 'valid_when'] as const;
const hiding = ['show_when', 'hide_when', 'jumps'] as const;

const withoutCondition = (option: unknown): unknown =>
  isRecord(option) ? { ...option, show_when: undefined } : option;

/** Returns the form without these attributes; the other rules for answers stay. */
function withoutAttributes<Node extends FormNode>(node: Node, without: readonly string[]): Node {
  const left = Object.entries(node.attrs ?? {}).flatMap(([name, value]): [string, unknown][] => {
    if (without.includes(name)) return [];
    const isOpen = name === 'options' && without.includes('show_when') && Array.isArray(value);
    return [[name, isOpen ? value.map(withoutCondition) : value]];
  });
  return {
    ...node,
    ...(node.attrs && { attrs: Object.fromEntries(left) }),
    ...(node.children && { children: node.children.map((child) => withoutAttributes(child, without)) }),
  };
}

/** Answers that a page can edit: values as JSON, and files by HTML name. */
export type EditableAnswers = { raw: RawAnswers; files: ReadonlyMap<string, readonly FileAnswer[]> };

/** Opens stored answers. `form` is the version that was answered. */
export function toEditableAnswers(form: Form, answers: Answers): EditableAnswers {
  const raw: RawAnswers = structuredClone(answers);
  const files = new Map<string, readonly FileAnswer[]>();
  for (const { input, holder, row } of uploadsIn(form, raw)) {
    const stored = getProperty(holder, input.attrs.id) as readonly FileAnswer[] | undefined;
    if (stored === undefined) continue;
    files.set(fieldName(input, row), stored);
    Reflect.deleteProperty(holder, input.attrs.id);
  }
  return { raw, files };
}

/** The maximum number of named files to look up. */
const most = 1_000;

/** Finds the named files that were uploaded for this form and that no submission owns yet. */
export async function findUploadedFiles(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  answers: unknown,
): Promise<readonly ArrivedFile[]> {
  const ids = [...new Set(idsIn(answers))].slice(0, most);
  if (ids.length === 0) return [];
  return findCarriedFiles(db, {
    workspace_id: workspaceId,
    form_id: formId,
    ids,
    key: null,
    submission_id: null,
  });
}

/** Yields every text in the answers that may be a file id, including texts in rows. */
function* idsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (uuidPattern.test(value)) yield value;
  } else if (Array.isArray(value) || isRecord(value))
    for (const part of Object.values(value)) yield* idsIn(part);
}
