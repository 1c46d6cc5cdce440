import { idOf, type Option, optionsById } from '../answers/options.ts';
import { type InputType, inputRules, isInputType } from '../input-rules.ts';
import { quote } from '../problems.ts';
import { isMoment, type MomentFormat } from '../rules/moments.ts';
import { rowKind } from '../types/matrix/rules.ts';
import type { AnswerKind, InputRules } from '../types/rules.ts';
import { type Comparison, type ConditionValue, type Operator, operators } from './condition.ts';

const answered = ['answered', 'not_answered'] as const;
const equal = ['equals', 'not_equals', 'one_of', ...answered] as const;
const order = ['greater_than', 'at_least', 'less_than', 'at_most'] as const;
const containing = ['contains', 'not_contains'] as const;

/** What the answers of each kind can be asked. */
const operatorsOfKind: Readonly<Record<AnswerKind | 'group', readonly Operator[]>> = {
  text: [...equal, ...containing],
  // Dates and times are text that sorts, so they have an order in place of parts.
  moment: [...equal, ...order],
  number: [...equal, ...order],
  boolean: ['equals', 'not_equals', ...answered],
  choice: equal,
  choices: [...containing, 'one_of', ...answered],
  order: answered,
  grid: answered,
  consent: answered,
  files: answered,
  group: answered,
};

/** The operators that can be asked of an element, in the order of the list; for a group, whether it is answered. */
export const operatorsFor = (type: InputType | 'composite'): readonly Operator[] =>
  operatorsOf(type === 'composite' ? 'group' : inputRules[type].kind);

/** The same of an answer of a kind. */
export const operatorsOf = (kind: AnswerKind | 'group'): readonly Operator[] =>
  inOrder(operatorsOfKind[kind]);

const inOrder = (allowed: readonly Operator[]): Operator[] =>
  operators.filter((operator) => allowed.includes(operator));

/** An element that a comparison names. */
type Named = {
  readonly id?: string | undefined;
  readonly type: string;
  readonly attrs: Readonly<Record<string, unknown>>;
};

/**
 * What is wrong with a comparison of an element that exists and may be named, as the end of a sentence about the
 * attribute: an operator or a value that does not fit its answers.
 */
export function comparisonProblem(comparison: Comparison, named: Named): string | undefined {
  const { is, value } = comparison;
  const row = 'row' in comparison ? comparison.row : undefined;
  const name = quote(named.id ?? named.type);
  if (row !== undefined && !hasRow(named, row))
    return `asks for the row ${quote(row)} of ${name}, which has no such row`;
  const kind = kindOf(named, row);
  const allowed = operatorsOfKind[kind];
  if (!allowed.includes(is))
    return `cannot ask ${name} for ${quote(is)}; ask for ${inOrder(allowed).join(', ')}`;
  const values: readonly ConditionValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const wrong = values.find((each) => !fits[kind](each, named));
  return wrong === undefined
    ? undefined
    : `compares ${name} with ${quote(String(wrong))}, which is none of its possible answers`;
}

/** Which rows a matrix has may not be known. */
const hasRow = ({ type, attrs }: Named, row: string): boolean =>
  isInputType(type) &&
  (inputRules[type] as InputRules).row !== undefined &&
  (attrs['rows'] === undefined || (attrs['rows'] as readonly Option[]).map(idOf).includes(row));

/** What is asked: the answer to an element, or to one row of a matrix; of a group, whether it is answered. */
function kindOf({ type, attrs }: Named, row: string | undefined): AnswerKind | 'group' {
  if (row !== undefined) return rowKind(attrs['multiple'] === true);
  return isInputType(type) ? inputRules[type].kind : 'group';
}

/** The same for a comparison of a reference value. */
export const referenceProblem = ({ value }: Comparison): string | undefined =>
  typeof value === 'boolean' ? 'compares a reference value, which is text, with true or false' : undefined;

const isOption = (value: ConditionValue, { attrs }: Named): boolean =>
  typeof value === 'string' &&
  (attrs['other'] === true || attrs['options'] === undefined || optionsById(attrs).has(value));

const fits: Readonly<Record<AnswerKind | 'group', (value: ConditionValue, named: Named) => boolean>> = {
  text: (value) => typeof value === 'string',
  moment: (value, { type }) => typeof value === 'string' && isMoment(type as MomentFormat, value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  choice: isOption,
  choices: isOption,
  order: () => false,
  grid: () => false,
  consent: () => false,
  files: () => false,
  group: () => false,
};
