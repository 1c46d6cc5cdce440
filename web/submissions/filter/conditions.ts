import type { Condition as FormCondition } from '#ast/basics/condition.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { assignmentColumns } from '#rules/columns.ts';
import type { SummaryBar } from '#search/filter/summary-bar.ts';
import type { Column } from '#submissions/shapes.ts';

/** The subject: an answer by its element ID, a row of a matrix, or a reference value by its name. */
type On = { on: 'answer' | 'reference'; name: string; row?: string };
/** A condition on an answer or a reference value. */
type SubjectCondition =
  | (On & { op: 'contains'; value: string })
  | (On & { op: 'equals'; value: string | boolean })
  | (On & { op: 'empty' | 'filled' })
  | (On & { op: 'number'; from?: number; to?: number })
  | (On & { op: 'time'; from?: string; to?: string })
  | (On & { op: 'any' | 'all'; values: string[] });
/** Conditions of which all must be met, or at least one. */
export type ConditionGroup = { on: 'group'; op: 'all' | 'any'; parts: readonly GroupPart[] };
export type GroupPart = SubjectCondition | ConditionGroup;
/** Conditions that the service reads from other parameters, so they cannot be in a group. */
export type UngroupedCondition =
  | { on: 'version'; op: 'equals'; value: number }
  /** Submissions that a bar of a summary chart counts, for bars that no other condition can express. */
  | { on: 'counted'; op: 'equals'; value: SummaryBar }
  /**
   * A condition set through the API that the console cannot edit. It is kept and shown, and can be removed.
   */
  | { on: 'program'; op: 'equals'; value: ApiOnlyParameters };
/** One condition, as a person chooses it and as the URL stores it. All conditions of a view must be met. */
export type FilterCondition = GroupPart | UngroupedCondition;

/** Parameters of the list operation that have no controls in the table. */
export type ApiOnlyParameters = {
  where?: readonly FormCondition[];
  completed_from?: string;
  completed_to?: string;
  tag?: string;
};

/** How answers of each kind are filtered. */
const kinds = {
  text: 'text',
  number: 'number',
  moment: 'time',
  choice: 'choice',
  choices: 'choices',
  boolean: 'yes_no',
  order: 'presence',
  grid: 'presence',
  consent: 'presence',
  files: 'presence',
} as const satisfies Record<AnswerKind, string>;

export type FilterKind = (typeof kinds)[AnswerKind] | 'reference' | 'version' | 'stage' | 'assignee';
export const kindOfColumn = ({ id, type }: Pick<Column, 'type'> & { id?: string }): FilterKind =>
  id === assignmentColumns.stage
    ? 'stage'
    : id === assignmentColumns.assignee
      ? 'assignee'
      : isInputType(type)
        ? kinds[inputRules[type].kind]
        : 'presence';

/** The labels of the operators. */
export const operatorLabels = {
  contains: 'contains',
  equals: 'is exactly',
  between: 'is between',
  any: 'is any of',
  all: 'has all of',
  yes: 'is yes',
  no: 'is no',
  filled: 'is answered',
  empty: 'is not answered',
} as const;
export type FilterOperator = keyof typeof operatorLabels;

/** Returns the label of an operator for a subject: people are not answers. */
export const labelOfOperator = (op: FilterOperator, subject: string): string =>
  subject === assignmentColumns.assignee && (op === 'filled' || op === 'empty')
    ? { filled: 'is anyone', empty: 'is no one' }[op]
    : operatorLabels[op];

/** The labels of a stage that was deleted and of a member who left, by column. */
export const goneLabels: Readonly<Record<string, string>> = {
  [assignmentColumns.stage]: 'a deleted stage',
  [assignmentColumns.assignee]: 'a former member',
};

/** Returns the label of an option. */
export const labelOfOption = (column: Column | undefined, value: string): string =>
  (column && getProperty(column.option_labels, value)) ?? goneLabels[column?.id ?? ''] ?? value;

/** The operators for each kind; new filters begin with the first. */
export const operatorsByKind = {
  text: ['contains', 'equals', 'filled', 'empty'],
  number: ['between', 'filled', 'empty'],
  time: ['between', 'filled', 'empty'],
  choice: ['any', 'filled', 'empty'],
  choices: ['any', 'all', 'filled', 'empty'],
  yes_no: ['yes', 'no', 'filled', 'empty'],
  presence: ['filled', 'empty'],
  reference: ['contains', 'equals', 'filled', 'empty'],
  version: ['equals'],
  stage: ['any'],
  assignee: ['any', 'filled', 'empty'],
} as const satisfies Record<FilterKind, readonly FilterOperator[]>;

/** Describes a condition, such as "Age is between 3 and 5". */
export const describeCondition = (condition: FilterCondition, columns: readonly Column[]): string =>
  describeParts(condition, columns).join(' ');

/** Describes a condition as its subject and its test. A condition without a subject is one text. */
export function describeParts(condition: FilterCondition, columns: readonly Column[]): readonly string[] {
  if (condition.on === 'version') return ['Version', `is ${condition.value}`];
  if (condition.on === 'program') return [describeApiParameters(condition.value)];
  if (condition.on === 'counted') return [describeCounted(condition.value, columns)];
  if (condition.on === 'group') {
    const texts = condition.parts.map((part) => describeCondition(part, columns));
    return [`(${texts.join(` ${joiners[condition.op]} `)})`];
  }
  const { name, row } = condition;
  const column = condition.on === 'reference' ? undefined : columns.find(({ id }) => id === name);
  const named = column?.rows.find(({ id }) => id === row)?.label ?? row;
  const subject = `${column?.label ?? name}${named === undefined ? '' : ` (${named})`}`;
  return [subject, describeTest(condition, column)];
}

/** The word between the conditions of a group. */
export const joiners = { all: 'and', any: 'or' } as const;

function describeCounted(counted: SummaryBar, columns: readonly Column[]): string {
  const question = columns
    .flatMap((column) => [column, ...column.inputs])
    .find(({ id }) => id === counted.element);
  const label = question?.label ?? counted.element;
  switch (counted.by) {
    case 'file':
      return `${label} has ${counted.value}`;
    case 'first':
      return `${label} ranks ${(question && getProperty(question.option_labels, counted.value)) ?? counted.value} first`;
    case 'rows':
      return `${label} ${formatRange(counted.from, counted.to)}`;
    case 'option':
    case 'text': {
      const { value } = counted;
      if (typeof value === 'boolean') return `${label} ${value ? operatorLabels.yes : operatorLabels.no}`;
      return `${label} is “${(question && getProperty(question.option_labels, value)) ?? value}” in any row`;
    }
    case 'span':
      return `${label} ${formatRange(counted.from, counted.to)} in any row`;
    case 'answered':
      return `${label} ${operatorLabels.filled}`;
    default:
      return counted satisfies never;
  }
}

function describeApiParameters({
  where = [],
  completed_from: from,
  completed_to: to,
  tag,
}: ApiOnlyParameters): string {
  const parts = [
    ...(from === undefined ? [] : [`completed from ${new Date(from).toLocaleString()}`]),
    ...(to === undefined ? [] : [`completed before ${new Date(to).toLocaleString()}`]),
    ...(tag === undefined ? [] : [`tagged “${tag}”`]),
    ...(where.length === 0 ? [] : ['a condition set through the API']),
  ].join(', ');
  return `${parts.slice(0, 1).toUpperCase()}${parts.slice(1)}`;
}

function describeTest(condition: SubjectCondition, column: Column | undefined): string {
  switch (condition.op) {
    case 'contains':
      return `contains “${condition.value}”`;
    case 'equals':
      if (typeof condition.value === 'boolean')
        return condition.value ? operatorLabels.yes : operatorLabels.no;
      return `is “${condition.value}”`;
    case 'empty':
    case 'filled':
      return labelOfOperator(condition.op, condition.name);
    case 'any':
    case 'all':
      return `${operatorLabels[condition.op]} ${condition.values.map((value) => labelOfOption(column, value)).join(', ')}`;
    case 'number':
    case 'time':
      return formatRange(condition.from, condition.to);
    default:
      return condition satisfies never;
  }
}

function formatRange(from: string | number | undefined, to: string | number | undefined): string {
  if (from === undefined) return to === undefined ? 'is answered' : `is at most ${to}`;
  if (from === to) return `is ${from}`;
  return to === undefined ? `is at least ${from}` : `is between ${from} and ${to}`;
}

const ops: readonly unknown[] = ['contains', 'equals', 'empty', 'filled', 'number', 'time', 'any', 'all'];
const listOps: readonly unknown[] = ['any', 'all'];

/**
 * Reads conditions from the URL. Items that are not conditions are left out. The service validates the rest.
 */
export function parseFilterConditions(given: unknown): readonly FilterCondition[] {
  const found = Array.isArray(given) ? (given as readonly unknown[]).filter(isCondition) : none;
  return found.length > 0 ? found : none;
}

const isCondition = (item: unknown): item is FilterCondition =>
  isRecord(item) &&
  (item['on'] === 'version' ||
    ((item['on'] === 'program' || item['on'] === 'counted') && isRecord(item['value'])) ||
    isGroupPart(item)) &&
  ops.includes(item['op']);

/** Whether unknown data is a condition that can be in a group. */
function isGroupPart(item: unknown): item is GroupPart {
  if (!isRecord(item)) return false;
  const { on, op, name, row, values, parts } = item;
  if (on === 'group')
    return listOps.includes(op) && Array.isArray(parts) && parts.length > 0 && parts.every(isGroupPart);
  return (
    (on === 'answer' || on === 'reference') &&
    typeof name === 'string' &&
    ops.includes(op) &&
    ['string', 'undefined'].includes(typeof row) &&
    Array.isArray(values) === listOps.includes(op)
  );
}

const none: readonly FilterCondition[] = [];

/**
 * Converts conditions to the parameters of the API: a condition of the form language, a version and a summary
 * bar.
 */
export function toApiParameters(
  conditions: readonly FilterCondition[],
): { where?: string; version?: number; counted?: string } & Omit<ApiOnlyParameters, 'where'> {
  const parameters: Omit<ApiOnlyParameters, 'where'> & { version?: number; counted?: string } = {};
  const all: FormCondition[] = [];
  for (const condition of conditions) {
    // A submission belongs to only one version.
    if (condition.on === 'version') parameters.version = condition.value;
    // Only one bar can be selected at a time.
    else if (condition.on === 'counted') parameters.counted = JSON.stringify(condition.value);
    else if (condition.on === 'program') {
      const { where = [], ...beside } = condition.value;
      all.push(...where);
      Object.assign(parameters, beside);
    } else all.push(...partsOf(condition));
  }
  return { ...(all.length > 0 && { where: JSON.stringify({ all }) }), ...parameters };
}

function partsOf(condition: GroupPart): FormCondition[] {
  if (condition.on === 'group') {
    if (condition.op === 'all') return condition.parts.flatMap(partsOf);
    const each = condition.parts
      .map(partsOf)
      .map((parts) => (parts.length === 1 ? parts[0]! : { all: parts }));
    return each.length === 1 ? each : [{ any: each }];
  }
  const { on, name, row } = condition;
  const subject =
    on === 'reference' ? { reference: name } : { element: name, ...(row !== undefined && { row }) };
  switch (condition.op) {
    case 'contains':
    case 'equals':
      return [{ ...subject, is: condition.op, value: condition.value }];
    case 'empty':
      return [{ ...subject, is: 'not_answered' }];
    case 'filled':
      return [{ ...subject, is: 'answered' }];
    case 'number':
    case 'time': {
      const { from, to } = condition;
      const ends: FormCondition[] = [
        ...(from === undefined ? [] : [{ ...subject, is: 'at_least' as const, value: from }]),
        ...(to === undefined ? [] : [{ ...subject, is: 'at_most' as const, value: to }]),
      ];
      return ends.length > 0 ? ends : [{ ...subject, is: 'answered' }];
    }
    case 'any':
    case 'all': {
      // Each option is a separate condition, because the options can belong to different versions.
      const each = condition.values.map((value) => ({ ...subject, is: 'one_of' as const, value: [value] }));
      return condition.op === 'all' ? each : [{ any: each }];
    }
    default:
      return condition satisfies never;
  }
}

type Named = { id: string; label: string };
/** The stages and members that filters offer. */
type Assignable = { stages: readonly { id: string; name: string }[]; members: readonly Named[] };

/** The columns that filters offer after the questions. They are filtered like questions with options. */
export const filterColumnsOf = (columns: readonly Column[], { stages, members }: Assignable): Column[] => {
  const column = (id: string, label: string, named: readonly Named[]): Column => ({
    id,
    label,
    type: 'dropdown',
    options: named.map((one) => one.id),
    option_labels: Object.fromEntries(named.map((one) => [one.id, one.label])),
    rows: [],
    inputs: [],
    is_retired: false,
  });
  const named = stages.map(({ id, name }) => ({ id, label: name }));
  return [
    ...columns,
    column(assignmentColumns.stage, 'Stage', named),
    column(assignmentColumns.assignee, 'Assignee', members),
  ];
};
