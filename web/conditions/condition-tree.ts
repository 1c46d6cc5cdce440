import { type ComparisonOperator, comparisonOperators } from '#ast/basics/condition.ts';
import { formatCount } from '#ast/basics/format-number.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { type ChoiceOption, type Option, optionIdOf, optionLabelOf } from '#ast/basics/options.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { areComparable, operatorsForKind as operatorsOfKind } from '#ast/logic/check-condition.ts';
import { rowKind } from '#ast/types/lazy-rules/matrix.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { formatPipedLabel } from '../design/marked-text.ts';

/** A comparison in the editor: subject, operator and value. It may be incomplete. */
export type ComparisonLeaf = {
  readonly kind: 'leaf';
  /** `row` is the id of a row of the matrix `name`. */
  readonly subject: { readonly of: 'element' | 'reference'; readonly name: string; readonly row?: string };
  readonly is: string;
  readonly value?: unknown;
  /** The id of the question to compare with, instead of a value. */
  readonly other?: string;
};

/** How a group combines its parts. */
export const groupModes = ['all', 'any', 'none', 'not_all'] as const;
export type GroupMode = (typeof groupModes)[number];

export type ConditionGroup = {
  readonly kind: 'group';
  readonly mode: GroupMode;
  readonly parts: readonly ConditionPart[];
};
export type ConditionPart = ComparisonLeaf | ConditionGroup;

/** The path from the outermost group to a part: an index for each level. Empty for the group itself. */
export type ConditionPartPath = readonly number[];

/**
 * Parses a stored condition as a tree whose root is always a group. `not` becomes the mode of a group, so
 * that authors see "none of these" instead of a negation. Returns undefined if the condition is invalid.
 */
export function parseConditionTree(condition: unknown): ConditionGroup | undefined {
  const part = readPart(condition);
  return part?.kind === 'leaf' ? { kind: 'group', mode: 'all', parts: [part] } : part;
}

function readPart(condition: unknown): ConditionPart | undefined {
  if (!isRecord(condition)) return undefined;
  const negated = getProperty(condition, 'not');
  if (negated !== undefined) return negate(readPart(negated));
  for (const mode of ['all', 'any'] as const) {
    const list = getProperty(condition, mode);
    if (list !== undefined) return readGroup(mode, list);
  }
  return readLeaf(condition);
}

const opposite: Readonly<Record<GroupMode, GroupMode>> = {
  all: 'not_all',
  not_all: 'all',
  any: 'none',
  none: 'any',
};

function negate(part: ConditionPart | undefined): ConditionGroup | undefined {
  if (!part) return undefined;
  return part.kind === 'group'
    ? { ...part, mode: opposite[part.mode] }
    : { kind: 'group', mode: 'none', parts: [part] };
}

function readGroup(mode: GroupMode, list: unknown): ConditionGroup | undefined {
  if (!Array.isArray(list)) return undefined;
  const parts = list.map(readPart).filter((part) => part !== undefined);
  return parts.length === list.length ? { kind: 'group', mode, parts } : undefined;
}

function readLeaf(condition: Readonly<Record<string, unknown>>): ComparisonLeaf | undefined {
  const is = getProperty(condition, 'is');
  if (typeof is !== 'string') return undefined;
  const value = getProperty(condition, 'value');
  for (const kind of ['element', 'reference'] as const) {
    const name = getProperty(condition, kind);
    const row = getProperty(condition, 'row');
    const subject = { of: kind, name: String(name), ...(typeof row === 'string' && { row }) };
    const other = getProperty(condition, 'other');
    const compared = { ...(value !== undefined && { value }), ...(typeof other === 'string' && { other }) };
    if (typeof name === 'string') return { kind: 'leaf', subject, is, ...compared };
  }
  return undefined;
}

/**
 * Converts the tree to its stored form: `{all: [...]}`, `{any: [...]}`, `{not: ...}` or a comparison
 * (#ast/basics/condition.ts).
 */
export function toStoredCondition(part: ConditionPart): object {
  if (part.kind === 'leaf') {
    const { kind: _kind, subject, is, ...compared } = part;
    const { of, name, row } = subject;
    return { [of]: name, ...(row !== undefined && { row }), is, ...compared };
  }
  const parts = part.parts.map(toStoredCondition);
  const written: Readonly<Record<GroupMode, object>> = {
    all: { all: parts },
    any: { any: parts },
    none: { not: { any: parts } },
    not_all: { not: { all: parts } },
  };
  return written[part.mode];
}

/** Replaces the part at a path; undefined removes it. Groups that become empty are removed too. */
export function replaceConditionPart(
  group: ConditionGroup,
  path: ConditionPartPath,
  change: (part: ConditionPart) => ConditionPart | undefined,
): ConditionGroup | undefined {
  const changed = changeAt(group, path, change);
  return changed?.kind === 'group' ? changed : undefined;
}

function changeAt(
  part: ConditionPart,
  path: ConditionPartPath,
  change: (part: ConditionPart) => ConditionPart | undefined,
): ConditionPart | undefined {
  const [index, ...more] = path;
  if (index === undefined) return change(part);
  const child = part.kind === 'group' ? part.parts[index] : undefined;
  if (!child || part.kind !== 'group') return part;
  const changed = changeAt(child, more, change);
  if (changed) return { ...part, parts: part.parts.with(index, changed) };
  return part.parts.length === 1 ? undefined : { ...part, parts: part.parts.toSpliced(index, 1) };
}

/** Removes the comparisons for which `isKept` returns false. Returns undefined if none are left. */
export function filterComparisons(
  group: ConditionGroup,
  isKept: (leaf: ComparisonLeaf) => boolean,
): ConditionGroup | undefined {
  const parts = group.parts.flatMap((part): ConditionPart[] => {
    if (part.kind === 'leaf') return isKept(part) ? [part] : [];
    const remaining = filterComparisons(part, isKept);
    return remaining ? [remaining] : [];
  });
  return parts.length === 0 ? undefined : { ...group, parts };
}

/** Replaces every comparison in the tree. */
export function mapComparisons(
  group: ConditionGroup,
  change: (leaf: ComparisonLeaf) => ComparisonLeaf,
): ConditionGroup {
  const parts = group.parts.map((part) =>
    part.kind === 'leaf' ? change(part) : mapComparisons(part, change),
  );
  return { ...group, parts };
}

/** Lists every comparison, in reading order. */
export function listComparisons(group: ConditionGroup): ComparisonLeaf[] {
  return group.parts.flatMap((part) => (part.kind === 'leaf' ? [part] : listComparisons(part)));
}

/**
 * A node that a condition can test: an element of the builder, or of a published form. `row` is the id of a
 * matrix row.
 */
export type TestedNode = {
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly row?: string;
};

/** Returns an attribute as a string, or an empty string if it is not one. */
export function attributeText({ attrs }: Pick<TestedNode, 'attrs'>, name: string): string {
  const value = getProperty(attrs, name);
  return typeof value === 'string' ? value : '';
}

/** Returns the valid options of a selection that may be incomplete. */
export const validOptionsOf = (options: unknown): ChoiceOption[] =>
  (Array.isArray(options) ? (options as readonly unknown[]) : []).filter(isOption).map((option) => ({
    ...(isRecord(option) && option),
    id: optionIdOf(option),
    label: optionLabelOf(option),
  }));

const isOption = (entry: unknown): entry is Option =>
  typeof entry === 'string' ||
  (isRecord(entry) && typeof entry['id'] === 'string' && typeof entry['label'] === 'string');

/** Lists the nodes, each matrix followed by its rows, which conditions can test separately. */
export const withMatrixRows = (nodes: readonly TestedNode[]): TestedNode[] =>
  nodes.flatMap((node) => [
    node,
    ...validOptionsOf(node.attrs['rows']).map(({ id }) => ({ type: node.type, attrs: node.attrs, row: id })),
  ]);

/** Returns the label of a node, with the label of the row for a matrix row. */
export function formatTestedLabel(node: TestedNode, row = node.row): string {
  const label = attributeText(node, 'label') || attributeText(node, 'id');
  if (row === undefined) return label;
  const found = validOptionsOf(node.attrs['rows']).find(({ id }) => id === row);
  return `${label} (${found?.label ?? `${row}: missing`})`;
}

/** Finds the element with an id, if it exists. */
export type FindTestedNode = (id: string) => TestedNode | undefined;

export const createNodeFinder =
  (questions: readonly TestedNode[]): FindTestedNode =>
  (id) =>
    questions.find((node) => attributeText(node, 'id') === id);

/** Returns what stands for an answer in a text: the label of its question, or its ID if it has no label. */
export function pipedLabelOf(id: string, node: TestedNode | undefined): string {
  if (!node) return 'missing question';
  return fillPiped(attributeText(node, 'label'), () => '…').trim() || id;
}

/** Fills the placeholders of a text with the labels of their questions: `Hello [Name]`. */
export const fillLabels = (text: string, find: FindTestedNode): string =>
  fillPiped(text, (id) => formatPipedLabel(pipedLabelOf(id, find(id))));

/** Fills the placeholders in the label of a node. Returns the node itself if there are none. */
export function withFilledLabel<Node extends TestedNode>(node: Node, find: FindTestedNode): Node {
  const label = attributeText(node, 'label');
  const shown = fillLabels(label, find);
  return shown === label ? node : { ...node, attrs: { ...node.attrs, label: shown } };
}

/** What a condition can test: kinds of answers, groups, and reference values. */
type TestedKind = AnswerKind | 'group' | 'reference';

/** Returns the kind of answer of an element or its row. Undefined if it has no answer. */
export function testedKind(node: TestedNode): Exclude<TestedKind, 'reference'> | undefined {
  if (node.row !== undefined) return rowKind(node.attrs['multiple'] === true);
  if (node.type === 'composite') return 'group';
  return isInputType(node.type) ? inputRules[node.type].kind : undefined;
}

/** The editor shows these operators of a date or time by their other names. */
const synonyms: ReadonlyMap<string, ComparisonOperator> = new Map([
  ['greater_than', 'after'],
  ['less_than', 'before'],
]);

/** Returns the operator as the editor shows it for a kind of answer. */
export const shownOperator = (is: string, kind: TestedKind | undefined): string =>
  (kind === 'moment' && synonyms.get(is)) || is;

/** Lists the operators for an element, or those for text and numbers for a URL parameter. */
export function operatorsOf(tested: TestedNode | undefined): readonly ComparisonOperator[] {
  const kind = tested && testedKind(tested);
  const operators = kind ? operatorsOfKind(kind) : comparisonOperators;
  const names = [...synonyms];
  const hidden = names.map(([plain, moment]) => (kind === 'moment' ? plain : moment));
  return operators.filter((operator) => !hidden.includes(operator));
}

/** Lists the questions with whose answers an operator can compare the answer to a node. */
export function listComparableNodes(
  tested: TestedNode | undefined,
  is: string,
  nodes: readonly TestedNode[],
): readonly TestedNode[] {
  const kind = tested && testedKind(tested);
  if (!kind || !takesValue(is) || is === 'one_of') return [];
  const id = attributeText(tested, 'id');
  return nodes.filter(
    (node) => node.row === undefined && attributeText(node, 'id') !== id && areComparable(kind, tested, node),
  );
}

const general: Readonly<Record<ComparisonOperator, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  one_of: 'is one of',
  greater_than: 'is more than',
  at_least: 'is at least',
  less_than: 'is less than',
  at_most: 'is at most',
  after: 'is after',
  before: 'is before',
  answered: 'is answered',
  not_answered: 'is not answered',
};

const special: { readonly [Kind in TestedKind]?: { readonly [Name in ComparisonOperator]?: string } } = {
  moment: {
    greater_than: general.after,
    at_least: 'is on or after',
    less_than: general.before,
    at_most: 'is on or before',
  },
  choices: { contains: 'includes', not_contains: 'does not include', one_of: 'includes one of' },
};

/** Formats an operator: `is at least`, or `is on or after` for a date. */
export function formatOperator(operator: ComparisonOperator, kind: TestedKind | undefined): string {
  return (kind && special[kind]?.[operator]) ?? general[operator];
}

/** Whether the operator needs a value. */
export const takesValue = (operator: string): boolean =>
  operator !== 'answered' && operator !== 'not_answered';

/** Whether the form language has this operator. */
export const isOperator = (is: string): is is ComparisonOperator =>
  comparisonOperators.some((known) => known === is);

/** The subject of a comparison. Its kind and options determine the possible values. */
export type ComparisonSubject = { readonly kind: TestedKind; readonly options: readonly ChoiceOption[] };

/** Returns the subject for an element. A reference value is text without known options. */
export function comparisonSubject(node: TestedNode | undefined): ComparisonSubject {
  const kind = node && testedKind(node);
  if (!node || !kind) return { kind: 'reference', options: [] };
  return { kind, options: validOptionsOf(node.attrs['options']) };
}

/** Creates a comparison for an element's answer, with a suggested value if there is one. */
export function newComparison(tested: TestedNode | undefined): ComparisonLeaf {
  const part = comparisonSubject(tested);
  const [is = 'answered'] = operatorsOf(tested);
  const subject = tested
    ? ({
        of: 'element',
        name: attributeText(tested, 'id'),
        ...(tested.row !== undefined && { row: tested.row }),
      } as const)
    : ({ of: 'reference', name: '' } as const);
  return withOperator({ kind: 'leaf', subject, is }, part, is);
}

/** Creates a condition with one comparison, in its stored form. */
export const newCondition = (tested: TestedNode | undefined): object =>
  toStoredCondition({ kind: 'group', mode: 'all', parts: [newComparison(tested)] });

/** Changes the subject of a comparison. Keeps the operator if it fits, and then a free value. */
export function withSubject(leaf: ComparisonLeaf, tested: TestedNode | undefined): ComparisonLeaf {
  const fresh = newComparison(tested);
  const part = comparisonSubject(tested);
  const is = shownOperator(leaf.is, part.kind);
  if (!isOperator(is) || !operatorsOf(tested).includes(is)) return fresh;
  const changed = withOperator(fresh, part, is);
  const isText = part.kind === 'text' || part.kind === 'reference';
  return isText && typeof leaf.value === 'string' ? { ...changed, value: leaf.value } : changed;
}

/** Changes the operator of a comparison. Keeps the value if the new operator accepts its type. */
export function withOperator(
  { value, other, ...leaf }: ComparisonLeaf,
  part: ComparisonSubject,
  is: ComparisonOperator,
): ComparisonLeaf {
  if (!takesValue(is)) return { ...leaf, is };
  const isList = is === 'one_of';
  if (other !== undefined && !isList) return { ...leaf, is, other };
  const fits = value !== undefined && Array.isArray(value) === isList;
  const next = fits ? value : suggestValue(part, isList, value);
  return { ...leaf, is, ...(next !== undefined && { value: next }) };
}

function suggestValue({ kind, options }: ComparisonSubject, isList: boolean, old: unknown): unknown {
  const single: unknown = Array.isArray(old) ? old[0] : (old ?? (kind === 'boolean' ? true : options[0]?.id));
  if (!isList) return single;
  return single === undefined ? undefined : [single];
}

/** The ways to set a date or time limit. */
export const timeLimitKinds = ['none', 'fixed', 'before', 'after'] as const;
export type TimeLimitKind = (typeof timeLimitKinds)[number];

/** Parses a stored limit: `today-18` means 18 days before today. */
export function parseTimeLimit(text: string): { readonly way: TimeLimitKind; readonly days: number } {
  if (text === '') return { way: 'none', days: 0 };
  const [isRelative, sign, days] = /^today(?:([+-])(\d+))?$/.exec(text) ?? [];
  if (isRelative === undefined) return { way: 'fixed', days: 0 };
  return { way: sign === '+' ? 'after' : 'before', days: Number(days ?? 0) };
}

/** Formats a limit: `today-18` becomes `18 days before today`. A fixed date stays unchanged. */
export function formatTimeLimit(text: string): string {
  const { way, days } = parseTimeLimit(text);
  if (way !== 'before' && way !== 'after') return text;
  if (days === 0) return 'today';
  return `${formatCount(days, 'day')} ${way} today`;
}
