import {
  type AnswerContext,
  type AnswerError,
  type AnswerFiles,
  type AnswerRow,
  type Answers,
  type AnswersResult,
  checkAnswers,
  type FileAnswer,
} from '#ast/answers.ts';
import { fieldName, type RawAnswers, type Row } from '#ast/fields.ts';
import { isRecord, isSameJson, own } from '#ast/json.ts';
import {
  type Form,
  type FormNode,
  type InputElement,
  isCalculation,
  kindOf,
  listQuestions,
} from '#ast/tree.ts';
import { findHeldFiles } from '#files/stored-files.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import type { FormKey } from './change-event.ts';
import type { SubmissionStatus } from './submission-rows.ts';

/** What a member has entered, and what it stands beside: the answers before the edit, the status, the day. */
type AnswersEdit = {
  raw: unknown;
  stored: Answers;
  status: SubmissionStatus;
  context: AnswerContext;
  /** Files that were uploaded for it, and are nobody's yet. */
  arrived?: readonly ArrivedFile[];
};

/** A file with the question that it was uploaded for. */
export type ArrivedFile = FileAnswer & { element: string };

/**
 * Checks answers by the rules that the visitor was under: against the version that was answered, without what is not
 * asked. What is required may be missing while the submission is incomplete. Files are kept by naming their id (an
 * object with it, as a submission is read, or the id alone), removed by leaving them out, and added when they arrived.
 */
export function checkAskedAnswers(form: Form, edit: AnswersEdit): AnswersResult {
  const { raw, files, errors } = takeNamedFiles(form, edit.raw, {
    stored: filesById(form, edit.stored),
    arrived: edit.arrived ?? [],
  });
  const asked = edit.status === 'completed' ? form : laidOpen(form, required);
  const checked = checkAnswers(asked, raw, files, edit.context);
  if (errors.length === 0) return checked;
  return { ok: false, errors: checked.ok ? errors : [...errors, ...checked.errors] };
}

type EditResult =
  | {
      readonly ok: true;
      readonly answers: Answers;
      /** The questions that are answered although these answers hide them. */
      readonly unasked: string[];
    }
  | { readonly ok: false; readonly errors: readonly AnswerError[] };

/**
 * Checks a member's edit. Beside what `checkAskedAnswers` takes, answers to questions that are hidden stay, checked by
 * their own rules: a visitor gave them, and only who leaves them out removes them.
 */
export function checkEditedAnswers(form: Form, edit: AnswersEdit): EditResult {
  const asked = checkAskedAnswers(form, edit);
  const all = checkAskedAnswers(laidOpen(form, [...required, ...hiding]), edit);
  if (asked.ok && all.ok) {
    const answers = withResultsOf(form, all.answers, asked.answers);
    const isUnasked = (id: string) => !isSameJson(own(answers, id), own(asked.answers, id));
    return { ok: true, answers, unasked: Object.keys(answers).filter(isUnasked) };
  }
  const errors = asked.ok ? [] : asked.errors;
  const known = new Set(errors.map(({ field }) => field));
  return {
    ok: false,
    errors: [...errors, ...(all.ok ? [] : all.errors.filter(({ field }) => !known.has(field)))],
  };
}

/** Answers with the results that others have: what is hidden is kept, and counts in no formula all the same. */
function withResultsOf(form: Form, answers: Answers, others: Answers): Answers {
  const taken = (inputs: readonly InputElement[], into: Answers, from: Answers): Answers => {
    const ids = inputs.flatMap((input) => (isCalculation(input) ? [input.attrs.id] : []));
    const rest = Object.entries(into).filter(([id]) => !ids.includes(id));
    return Object.fromEntries([...rest, ...Object.entries(from).filter(([id]) => ids.includes(id))]);
  };
  const questions = listQuestions(form);
  const made = taken(
    questions.flatMap(({ kind, element }) => (kind === 'input' ? [element] : [])),
    answers,
    others,
  );
  for (const question of questions) {
    const { id } = question.element.attrs;
    const [rows, asked] = [own(made, id), own(others, id)];
    // Of rows that are hidden as a whole nothing is worked out anew.
    if (
      question.kind === 'input' ||
      !Array.isArray(rows) ||
      !Array.isArray(asked) ||
      rows.length !== asked.length
    )
      continue;
    made[id] = (rows as AnswerRow[]).map((row, index) =>
      taken(question.inputs, row, (asked as AnswerRow[])[index]!),
    );
  }
  return made;
}

/** Every file of a submission's answers. */
export const listFiles = (form: Form, answers: Answers): FileAnswer[] => [
  ...filesById(form, answers).values(),
];

type RawRecord = Readonly<Record<string, unknown>>;

/** Every place of an upload in answers, with the object that holds its files. */
export function* uploadsIn(
  form: Form,
  answers: RawRecord,
): Generator<{ input: InputElement; holder: RawRecord; row?: Row }> {
  for (const question of listQuestions(form)) {
    if (question.kind === 'input') {
      if (kindOf(question.element) === 'files') yield { input: question.element, holder: answers };
      continue;
    }
    const rows = own(answers, question.element.attrs.id);
    for (const [index, holder] of (Array.isArray(rows) ? rows : []).entries()) {
      if (!isRecord(holder)) continue;
      for (const input of question.inputs) {
        if (kindOf(input) === 'files') yield { input, holder, row: { group: question.element, index } };
      }
    }
  }
}

function filesById(form: Form, answers: Answers): Map<string, FileAnswer> {
  const files = [...uploadsIn(form, answers)].flatMap(
    ({ input, holder }) => own(holder, input.attrs.id) ?? [],
  );
  return new Map((files as FileAnswer[]).map((file) => [file.id, file]));
}

/** Takes the files that are named out of what was sent, as the check reads them apart from the other answers. */
export function takeNamedFiles(
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
    const value = own(holder, id);
    if (value === undefined || value === null) continue;
    Reflect.deleteProperty(holder, id);
    const kept = (Array.isArray(value) ? value : [value]).map(
      (item) => takeFile(left, idOf(item)) ?? takeFile(news, `${id}/${idOf(item)}`),
    );
    const field = fieldName(input, row);
    if (kept.includes(undefined)) {
      errors.push({
        field,
        message: `${label}: there is no such file. One that was uploaded for this question can be named for a day.`,
      });
    }
    const known = kept.filter((file) => file !== undefined);
    if (known.length > 0) files.set(field, known);
  }
  return { raw, files, errors };
}

const idOf = (item: unknown): string => String(isRecord(item) ? own(item, 'id') : item);

/** A file can be named once. */
function takeFile(left: Map<string, FileAnswer>, name: string): FileAnswer | undefined {
  const found = left.get(name);
  left.delete(name);
  if (!found) return undefined;
  const { id, filename, size, content_type } = found;
  return { id, filename, size, content_type };
}

/** What makes an answer required, and what hides questions. */
const required = ['required', 'require_when'] as const;
const hiding = ['show_when', 'hide_when', 'jumps'] as const;

const withoutCondition = (option: unknown): unknown =>
  isRecord(option) ? { ...option, show_when: undefined } : option;

/** The same form without these attributes; a rule for what was answered stays. */
function laidOpen<Node extends FormNode>(node: Node, without: readonly string[]): Node {
  const left = Object.entries(node.attrs ?? {}).flatMap(([name, value]): [string, unknown][] => {
    if (without.includes(name)) return [];
    const isOpen = name === 'options' && without.includes('show_when') && Array.isArray(value);
    return [[name, isOpen ? value.map(withoutCondition) : value]];
  });
  return {
    ...node,
    ...(node.attrs && { attrs: Object.fromEntries(left) }),
    ...(node.children && { children: node.children.map((child) => laidOpen(child, without)) }),
  };
}

/** Answers as a page takes them to be changed: values as JSON, and files by their HTML name. */
export type OpenedAnswers = { raw: RawAnswers; files: ReadonlyMap<string, readonly FileAnswer[]> };

/** Opens stored answers; `form` is the version under which they were stored. */
export function openAnswers(form: Form, answers: Answers): OpenedAnswers {
  const raw: RawAnswers = structuredClone(answers);
  const files = new Map<string, readonly FileAnswer[]>();
  for (const { input, holder, row } of uploadsIn(form, raw)) {
    const held = own(holder, input.attrs.id) as readonly FileAnswer[] | undefined;
    if (held === undefined) continue;
    files.set(fieldName(input, row), held);
    Reflect.deleteProperty(holder, input.attrs.id);
  }
  return { raw, files };
}

/** As many files as answers may name at once are looked for. */
const most = 1_000;

/** The files that answers name, as far as they were uploaded for this form and are nobody's yet. */
export async function findArrived(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  answers: unknown,
): Promise<readonly ArrivedFile[]> {
  const ids = [...new Set(idsIn(answers))].slice(0, most);
  if (ids.length === 0) return [];
  return findHeldFiles(db, {
    workspace_id: workspaceId,
    form_id: formId,
    ids,
    key: null,
    submission_id: null,
  });
}

/** Every text of answers that may be an id: of a question, or of one in rows. */
function* idsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (uuidPattern.test(value)) yield value;
  } else if (Array.isArray(value) || isRecord(value))
    for (const part of Object.values(value)) yield* idsIn(part);
}
