import { getProperty, isRecord } from '../basics/json.ts';
import { answerLimits, formLimits } from '../basics/limits.ts';
import { quote } from '../basics/problems.ts';
import { isBlank } from '../basics/text.ts';
import { spendWork, type WorkBudget } from '../basics/work.ts';
import { autofillOf } from '../form/autofill.ts';
import {
  countRows,
  fieldName,
  findInput,
  type GroupRow,
  indexQuestionsById,
  parseGroupFieldName,
  type QuestionsById,
  rawAnswersOfRow,
} from '../form/fields.ts';
import { formIndexOf } from '../form/form-index.ts';
import { inputRules } from '../form/input-rules.ts';
import { lazyConditionalOptionFunctions } from '../form/lazy-conditional-options.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  isAnsweredByVisitor,
  isCalculation,
  type Question,
} from '../form/tree.ts';
import type { EvaluationContext, VisibleParts } from '../logic/evaluate.ts';
import { type FileAnswer, type FileFacts, filesProblem } from '../rules/check-files.ts';
import type { AnswerProblem, BrokenRule, ProblemValues, RuleName } from '../rules/problem.ts';
import type { InputRules, PlainAnswer } from '../types/rules.ts';
import { checkAnswer } from './check-input.ts';

export type AnswerValue = PlainAnswer | FileAnswer[] | AnswerRow[];
/** One row of a repeatable group: answers by child ID. */
export type AnswerRow = { [id: string]: AnswerValue };
/** Answers by element ID, without blank ones. An ID can be `toString`: read with `Object.hasOwn`. */
export type Answers = Record<string, AnswerValue>;

/** `field` is the element ID or, in a row, `group[0][child]` with the row number as it was sent. */
export type FieldProblem = { readonly field: string; readonly problem: AnswerProblem };

/** The raw answers and the context of their check. `File` is what the caller knows about a file. */
export type Filling<File extends FileFacts = FileFacts> = {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, readonly File[]>;
  readonly shown: VisibleParts;
  readonly context: EvaluationContext;
  /** The index of the step, if only one is checked. */
  readonly step?: number;
};

/** The cost of a question, a row and an unknown name, in steps of work (work.ts). */
const steps = { question: 40, row: 60, name: 40 } as const;

type Problems = Generator<FieldProblem, void>;
type GroupQuestion = Extract<Question, { kind: 'group' }>;
type Target = Record<string, unknown>;

/** Writes the answers to visible questions into `target` and yields the problems with invalid ones. */
export function* collectValidAnswers(
  target: Target,
  questions: readonly Question[],
  filling: Filling,
): Problems {
  for (const question of questions) {
    spendWork(filling.context.work, steps.question);
    if (!filling.shown.isShown(question.element)) continue;
    if (question.kind === 'input') yield* fillInput(target, question.element, filling.raw, filling);
    else yield* fillRows(target, question, filling);
  }
}

function* fillInput(
  target: Target,
  input: InputElement,
  raw: Filling['raw'],
  filling: Filling,
  row?: GroupRow,
): Problems {
  const { id } = input.attrs;
  // Scores follow from all other answers (quiz.ts).
  if (input.type === 'score') return;
  if (isCalculation(input)) {
    const result = filling.shown.calculated(input, row);
    if (result !== undefined) target[id] = result;
    return;
  }
  const field = fieldName(input, row);
  const value = getProperty(raw, id);
  const files = filling.files.get(field) ?? [];
  if (answerKindOf(input) === 'files' && isBlank(value) && files.length > 0) {
    const { files: rules }: InputRules = inputRules[input.type];
    const broken = filesProblem({ ...input.attrs, ...rules }, files);
    if (broken) yield { field, problem: toAnswerProblem(input, broken) };
    else target[id] = [...files];
  } else if (isUnanswered(input, value, filling.context.work)) {
    if (filling.shown.isRequired(input, row))
      yield { field, problem: toAnswerProblem(input, missing(input)) };
  } else {
    const checked = checkAnswer(input, value, filling.context);
    const broken = checked.ok
      ? (lazyConditionalOptionFunctions.withdrawn?.(input, checked.value, filling.shown.holds, row) ??
        findMissingPart(input, checked.value, filling, row) ??
        (filling.shown.isValid(input, row, filling.step) ? undefined : { rule: 'valid_when' as const }))
      : checked.broken;
    if (checked.ok && !broken) target[id] = checked.value;
    else if (broken) yield { field, problem: toAnswerProblem(input, broken) };
  }
}

/** Returns whether an input has no answer. For objects, the `tidy` function of the type decides. */
function isUnanswered(input: InputElement, value: unknown, work: WorkBudget): boolean {
  const { tidy } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  return isBlank(tidy ? tidy(value, work, input.attrs) : value);
}

/** Returns what a valid answer to a required input still lacks. */
function findMissingPart(
  input: InputElement,
  answer: PlainAnswer,
  { shown }: Filling,
  row?: GroupRow,
): BrokenRule | undefined {
  // The table pairs each type with its attributes and answers. The type of a lookup by a union cannot express
  // this, so the result is cast.
  const { lacks } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  return lacks && shown.isRequired(input, row) ? lacks(input.attrs, answer as never) : undefined;
}

function missing(input: InputElement): BrokenRule {
  const types = 'accept' in input.attrs && input.attrs.accept?.join(', ');
  return { rule: 'required', ...(types && { values: { types } }) };
}

/** Returns the problem for a broken rule, with the details that its sentence needs. */
export function toAnswerProblem(input: InputElement, broken: BrokenRule): AnswerProblem {
  const { label } = input.attrs;
  const custom = 'error_message' in input.attrs ? input.attrs.error_message : undefined;
  const { noun = input.type }: InputRules = inputRules[input.type];
  const about = autofillOf(input) === 'name' ? 'name' : noun;
  return { ...broken, label, about, ...(custom && { custom }) };
}

function* fillRows(target: Target, question: GroupQuestion, filling: Filling): Problems {
  const { id: field, label } = question.element.attrs;
  const value = getProperty(filling.raw, field);
  if (!isBlank(value) && !Array.isArray(value)) {
    yield { field, problem: { rule: 'rows', label } };
    return;
  }
  if (Array.isArray(value) && value.length > answerLimits.rows) {
    yield { field, problem: tooManyRows(label) };
    return;
  }
  const rows: Target[] = [];
  const ids = new Set(question.inputs.map((input) => input.attrs.id));
  const count = countRows(question.element, filling.raw, filling.files);
  for (let index = 0; index < count; index += 1) {
    const row: Target = {};
    yield* fillRow(row, { ...question, ids }, filling, { group: question.element, index });
    if (Object.keys(row).length > 0) rows.push(row);
  }
  if (rows.length > 0) target[field] = rows;
}

function tooManyRows(label: string): AnswerProblem {
  return { rule: 'max_rows', label, values: { limit: answerLimits.rows } };
}

/** A blank row stays empty even with required inputs: the page always shows one row to fill in. */
function* fillRow(
  target: Target,
  { element: group, inputs, ids }: GroupQuestion & { readonly ids: ReadonlySet<string> },
  filling: Filling,
  row: GroupRow,
): Problems {
  spendWork(filling.context.work, steps.row + inputs.length * steps.question);
  const prefix = `${group.attrs.id}[${row.index}]`;
  const { label } = group.attrs;
  const raw = rawAnswersOfRow(filling.raw, row) ?? {};
  if (!isRecord(raw)) {
    yield { field: prefix, problem: { rule: 'row', label } };
    return;
  }
  const shown = inputs.filter((input) => filling.shown.isShown(input, row));
  const isAnswered = (input: InputElement) =>
    !isUnanswered(input, getProperty(raw, input.attrs.id), filling.context.work) ||
    !isBlank(filling.files.get(fieldName(input, row)));
  if (shown.some((input) => isAnsweredByVisitor(input) && isAnswered(input)))
    for (const input of shown) yield* fillInput(target, input, raw, filling, row);
  const keys = Object.keys(raw);
  spendWork(filling.context.work, keys.length * steps.name);
  for (const key of keys)
    if (!ids.has(key)) {
      const problem = { rule: 'row_question', label, values: { name: quote(key) } } as const;
      yield { field: `${prefix}[${key}]`, problem };
    }
}

/** Yields a problem for each name in the answers that is not a question of the form. */
export function* findUnknownFields(
  form: Form,
  questions: readonly Question[],
  { raw, files, context: { work } }: Filling,
): Problems {
  const byId = indexQuestionsById(questions);
  const names = Object.keys(raw);
  spendWork(work, (names.length + files.size) * steps.name);
  let unknown = 0;
  for (const field of names) {
    if (byId.has(field)) continue;
    if (unknown === formLimits.unknownNames) {
      yield {
        field: 'answers',
        problem: createFormProblem('more_names', { limit: formLimits.unknownNames }),
      };
      return;
    }
    unknown += 1;
    yield { field, problem: strayName(form, byId, field) };
  }
  for (const field of files.keys()) {
    const found = findInput(byId, field);
    if (!found) yield { field, problem: strayName(form, byId, field) };
    else if (answerKindOf(found.input) !== 'files') {
      yield { field, problem: { rule: 'no_file', label: found.input.attrs.label } };
    }
  }
}

function strayName(form: Form, questions: QuestionsById, name: string): AnswerProblem {
  const part = parseGroupFieldName(name);
  const group = part && questions.get(part.group);
  if (part && group?.kind === 'group' && part.index >= answerLimits.rows)
    return tooManyRows(group.element.attrs.label);
  return createFormProblem(formIndexOf(form).byId.has(name) ? 'no_answer' : 'question', {
    name: quote(name),
  });
}

/** Creates a problem that belongs to the whole form rather than to a question. */
export function createFormProblem(rule: RuleName, values?: ProblemValues): AnswerProblem {
  return { rule, label: '', ...(values && { values }) };
}
