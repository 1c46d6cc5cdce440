import type { Column } from '#submissions/shapes.ts';
import { type Condition, type FilterKind, kindOfColumn, type Operator, operatorsOf } from './conditions.ts';

/** Subjects that are no question. Element ids begin with a letter, so `$` marks them. */
export const referenceSubject = '$reference';
export const versionSubject = '$version';

/** A condition while it is being written: everything that a field may hold. */
export type ConditionDraft = {
  /** An element's id, or one of the subjects above. */
  subject: string;
  /** One row of a matrix; '': the whole answer. */
  row: string;
  op: Operator;
  /** The name of a reference value. */
  name: string;
  text: string;
  from: string;
  to: string;
  values: readonly string[];
};

export function kindOfSubject(subject: string, columns: readonly Column[], row = ''): FilterKind {
  // A row may take one option or several, which the version says that was answered.
  if (row !== '') return 'choices';
  if (subject === referenceSubject) return 'reference';
  if (subject === versionSubject) return 'version';
  const column = columns.find(({ id }) => id === subject);
  // A question of an older version that nobody answered: its answers are asked for as texts.
  return column ? kindOfColumn(column) : 'text';
}

export function beginDraft(subject: string, columns: readonly Column[], row = ''): ConditionDraft {
  const [op] = operatorsOf[kindOfSubject(subject, columns, row)];
  return { subject, row, op, name: '', text: '', from: '', to: '', values: [] };
}

/** The draft of a condition that is there already. */
export function draftOf(
  condition: Exclude<Condition, { on: 'program' | 'counted' }>,
  columns: readonly Column[],
): ConditionDraft {
  if (condition.on === 'version')
    return { ...beginDraft(versionSubject, columns), text: String(condition.value) };
  const { on, name, row } = condition;
  const begun = {
    ...beginDraft(on === 'reference' ? referenceSubject : name, columns, row),
    ...(on === 'reference' && { name }),
  };
  switch (condition.op) {
    case 'contains':
      return { ...begun, op: 'contains', text: condition.value };
    case 'equals':
      return typeof condition.value === 'boolean'
        ? { ...begun, op: condition.value ? 'yes' : 'no' }
        : { ...begun, op: 'equals', text: condition.value };
    case 'empty':
    case 'filled':
      return { ...begun, op: condition.op };
    case 'any':
    case 'all':
      return { ...begun, op: condition.op, values: condition.values };
    case 'number':
    case 'time':
      return {
        ...begun,
        op: 'between',
        from: String(condition.from ?? ''),
        to: String(condition.to ?? ''),
      };
    default:
      return condition satisfies never;
  }
}

/** The condition that a draft says, or what it lacks, in words. */
export function readDraft(draft: ConditionDraft, columns: readonly Column[]): Condition | string {
  const kind = kindOfSubject(draft.subject, columns);
  if (kind === 'version') {
    const value = Number(draft.text);
    return Number.isInteger(value) && value >= 1
      ? { on: 'version', op: 'equals', value }
      : 'Enter the number of a version.';
  }
  const on = kind === 'reference' ? 'reference' : 'answer';
  const row = draft.row === '' ? {} : { row: draft.row };
  const name = on === 'reference' ? draft.name.trim() : draft.subject;
  if (name === '') return 'Enter the name of the value.';
  switch (draft.op) {
    case 'contains':
    case 'equals':
      return draft.text === '' ? 'Enter a text.' : { on, name, op: draft.op, value: draft.text };
    case 'yes':
    case 'no':
      return { on, name, op: 'equals', value: draft.op === 'yes' };
    case 'empty':
    case 'filled':
      return { on, name, ...row, op: draft.op };
    case 'any':
    case 'all':
      return draft.values.length === 0
        ? 'Choose at least one.'
        : { on: 'answer', name, ...row, op: draft.op, values: [...draft.values] };
    case 'between':
      return kind === 'number' ? numbers(name, draft) : times(name, draft);
    default:
      return draft.op satisfies never;
  }
}

type Bounds = Pick<ConditionDraft, 'from' | 'to'>;

function numbers(name: string, { from, to }: Bounds): Condition | string {
  const [least, most] = [from.trim(), to.trim()].map((text) => (text === '' ? undefined : Number(text)));
  if (least === undefined && most === undefined) return 'Enter at least one number.';
  if (![least, most].every((bound) => bound === undefined || Number.isFinite(bound)))
    return 'Enter numbers like 3.5.';
  return {
    on: 'answer',
    name,
    op: 'number',
    ...(least !== undefined && { from: least }),
    ...(most !== undefined && { to: most }),
  };
}

function times(name: string, { from, to }: Bounds): Condition | string {
  if (from === '' && to === '') return 'Enter at least one end.';
  return { on: 'answer', name, op: 'time', ...(from && { from }), ...(to && { to }) };
}
