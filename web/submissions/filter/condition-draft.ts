import type { Condition as FormCondition } from '#ast/basics/condition.ts';
import { isRecord } from '#ast/basics/json.ts';
import type { SummaryBar } from '#search/filter/summary-bar.ts';
import type { Column } from '#submissions/shapes.ts';
import {
  type ApiOnlyParameters,
  type FilterCondition,
  type FilterKind,
  type FilterOperator,
  type GroupPart,
  kindOfColumn,
  operatorsByKind,
  type toApiParameters,
} from './conditions.ts';

/** Subjects that are not questions. Element IDs begin with a letter, so `$` marks them. */
const referenceSubject = '$reference';
export const versionSubject = '$version';

/** A condition that is being edited, with the value of every field. */
export type ConditionDraft = {
  /** An element ID, or one of the subjects above. */
  subject: string;
  /** The ID of a row of a matrix, or '' for the whole answer. */
  row: string;
  op: FilterOperator;
  /** The name of a reference value. */
  name: string;
  text: string;
  from: string;
  to: string;
  values: readonly string[];
};

/** The subjects to choose from: the questions, then the rest. */
export const subjectsOf = (columns: readonly Column[]): { id: string; label: string }[] => [
  ...columns.map(({ id, label, is_retired }) => ({
    id,
    label: is_retired ? `${label} (no longer asked)` : label,
  })),
  { id: referenceSubject, label: 'Reference data' },
  { id: versionSubject, label: 'Form version' },
];

export function kindOfSubject(subject: string, columns: readonly Column[], row = ''): FilterKind {
  // Whether a row accepts one option or several depends on the form version that was answered.
  if (row !== '') return 'choices';
  if (subject === referenceSubject) return 'reference';
  if (subject === versionSubject) return 'version';
  const column = columns.find(({ id }) => id === subject);
  // A question that exists only in an older version and has no answers is treated as text.
  return column ? kindOfColumn(column) : 'text';
}

export function beginDraft(subject: string, columns: readonly Column[], row = ''): ConditionDraft {
  const [op] = operatorsByKind[kindOfSubject(subject, columns, row)];
  return { subject, row, op, name: '', text: '', from: '', to: '', values: [] };
}

/** A condition that the console can edit. */
export type EditableCondition = Exclude<FilterCondition, { on: 'program' | 'counted' | 'group' }>;

/** Converts an existing condition to a draft. */
export function conditionDraftOf(condition: EditableCondition, columns: readonly Column[]): ConditionDraft {
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
      return { ...begun, op: 'between', from: String(condition.from ?? ''), to: String(condition.to ?? '') };
    default:
      return condition satisfies never;
  }
}

/** Converts a draft to a condition, or returns what is missing as a message. */
export function conditionOfDraft(
  draft: ConditionDraft,
  columns: readonly Column[],
): EditableCondition | string {
  const kind = kindOfSubject(draft.subject, columns);
  if (kind === 'version') {
    const value = Number(draft.text);
    return Number.isInteger(value) && value >= 1
      ? { on: 'version', op: 'equals', value }
      : 'Enter a version number.';
  }
  const on = kind === 'reference' ? 'reference' : 'answer';
  const row = draft.row === '' ? {} : { row: draft.row };
  const name = on === 'reference' ? draft.name.trim() : draft.subject;
  if (name === '') return 'Enter the name of the reference data.';
  switch (draft.op) {
    case 'contains':
    case 'equals':
      return draft.text === '' ? 'Enter some text.' : { on, name, op: draft.op, value: draft.text };
    case 'yes':
    case 'no':
      return { on, name, op: 'equals', value: draft.op === 'yes' };
    case 'empty':
    case 'filled':
      return { on, name, ...row, op: draft.op };
    case 'any':
    case 'all':
      return draft.values.length === 0
        ? 'Choose at least one option.'
        : { on: 'answer', name, ...row, op: draft.op, values: [...draft.values] };
    case 'between':
      return kind === 'number' ? numbers(name, draft) : times(name, draft);
    default:
      return draft.op satisfies never;
  }
}

type Bounds = Pick<ConditionDraft, 'from' | 'to'>;

function numbers(name: string, { from, to }: Bounds): EditableCondition | string {
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

function times(name: string, { from, to }: Bounds): EditableCondition | string {
  if (from === '' && to === '') return 'Enter a start, an end or both.';
  return { on: 'answer', name, op: 'time', ...(from && { from }), ...(to && { to }) };
}

/**
 * Converts a query back to conditions as a person chooses them. This is the reverse of `toApiParameters`.
 * Everything else is kept unchanged.
 */
export function conditionsOfQuery({
  where,
  version,
  counted,
  ...beside
}: ReturnType<typeof toApiParameters>): FilterCondition[] {
  const { read, unread } = readParts(partsOf(where));
  const conditions: FilterCondition[] = read;
  if (version !== undefined) conditions.push({ on: 'version', op: 'equals', value: version });
  if (counted !== undefined)
    conditions.push({ on: 'counted', op: 'equals', value: JSON.parse(counted) as SummaryBar });
  const value: ApiOnlyParameters = { ...beside, ...(unread.length > 0 && { where: unread }) };
  if (Object.keys(value).length > 0) conditions.push({ on: 'program', op: 'equals', value });
  return conditions;
}

function partsOf(where: string | undefined): readonly FormCondition[] {
  if (where === undefined) return [];
  // The service validated it before it was saved.
  const condition = JSON.parse(where) as FormCondition;
  return 'all' in condition ? condition.all : [condition];
}

/** Reads conditions that must all be met. `unread` are those that the console cannot edit. */
function readParts(parts: readonly FormCondition[]): { read: GroupPart[]; unread: FormCondition[] } {
  const read: GroupPart[] = [];
  const unread: FormCondition[] = [];
  for (const part of parts) {
    const condition = conditionOf(part);
    if (!condition) unread.push(part);
    else if (!joins(read.at(-1), condition)) read.push(condition);
  }
  return { read, unread };
}

function anyOf(alternatives: readonly FormCondition[]): GroupPart | undefined {
  const parts = alternatives.map((part): GroupPart | undefined => {
    const { read, unread } = readParts('all' in part ? part.all : [part]);
    if (unread.length > 0 || read.length === 0) return undefined;
    return read.length === 1 ? read[0] : { on: 'group', op: 'all', parts: read };
  });
  const [first] = parts;
  const values = parts.flatMap((one) =>
    isOneOption(one) && isOneOption(first) && isOf(one, first) ? one.values : [],
  );
  if (isOneOption(first) && values.length === parts.length) return { ...first, op: 'any', values };
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? { on: 'group', op: 'any', parts: known } : undefined;
}

const isOneOption = (part: GroupPart | undefined): part is Extract<GroupPart, { values: string[] }> =>
  part?.op === 'all' && 'values' in part && part.values.length === 1;

function conditionOf(condition: FormCondition): GroupPart | undefined {
  if ('any' in condition) return anyOf(condition.any);
  if (!('is' in condition)) return undefined;
  const subject =
    'reference' in condition
      ? ({ on: 'reference', name: condition.reference } as const)
      : 'element' in condition &&
          Object.keys(condition).every((key) => ['element', 'row', 'is', 'value'].includes(key))
        ? ({
            on: 'answer',
            name: condition.element,
            ...('row' in condition && { row: condition.row as string }),
          } as const)
        : undefined;
  if (!subject) return undefined;
  const { is, value } = condition as { is: string; value?: unknown };
  if (is === 'answered') return { ...subject, op: 'filled' };
  if (is === 'not_answered') return { ...subject, op: 'empty' };
  if (is === 'contains' && typeof value === 'string') return { ...subject, op: 'contains', value };
  if (is === 'equals' && (typeof value === 'string' || typeof value === 'boolean'))
    return { ...subject, op: 'equals', value };
  if (is === 'one_of' && Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return { ...subject, op: value.length === 1 ? 'all' : 'any', values: value };
  const end = is === 'at_least' ? 'from' : is === 'at_most' ? 'to' : undefined;
  if (end && typeof value === 'number') return { ...subject, op: 'number', [end]: value };
  if (end && typeof value === 'string') return { ...subject, op: 'time', [end]: value };
  return undefined;
}

/** Whether two conditions have the same subject. */
const isOf = (one: GroupPart, other: GroupPart | undefined): boolean =>
  other !== undefined &&
  'name' in one &&
  'name' in other &&
  one.on === other.on &&
  one.name === other.name &&
  one.row === other.row;

/**
 * Merges a condition into the previous one if both resulted from one condition: as the other end of a range,
 * or as another required option.
 */
function joins(before: GroupPart | undefined, read: GroupPart): boolean {
  if (!before || !isOf(read, before) || read.op !== before.op) return false;
  if ('values' in before && before.op === 'all' && 'values' in read) {
    before.values.push(...read.values);
    return true;
  }
  const isRange = (read.op === 'number' || read.op === 'time') && 'to' in read && !('to' in before);
  if (isRange && isRecord(before)) Object.assign(before, { to: read.to });
  return isRange;
}
