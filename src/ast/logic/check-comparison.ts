import { idOf, type Option, optionsById } from '../answers/options.ts';
import { type InputType, inputRules } from '../input-rules.ts';
import { quote } from '../problems.ts';
import { isMoment, type MomentFormat } from '../rules/moments.ts';
import { rowType } from '../types/matrix/rules.ts';
import type { AnswerKind } from '../types/rules.ts';
import { type Comparison, type ConditionValue, type Operator, operators } from './condition.ts';

const answered = ['answered', 'not_answered'] as const;
const equal = ['equals', 'not_equals', 'one_of', ...answered] as const;
const order = ['greater_than', 'at_least', 'less_than', 'at_most'] as const;
const containing = ['contains', 'not_contains'] as const;

/** What the answers of each kind can be asked. */
const operatorsOfKind: Readonly<Record<AnswerKind, readonly Operator[]>> = {
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
};

/** The operators that can be asked of an element, in the order of the list; for a group, whether it is answered. */
export function operatorsFor(type: InputType | 'composite'): readonly Operator[] {
  if (type === 'composite') return answered;
  const allowed = operatorsOfKind[inputRules[type].kind];
  return operators.filter((operator) => allowed.includes(operator));
}

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
export function comparisonProblem(comparison: Comparison, element: Named): string | undefined {
  const { is, value } = comparison;
  const row = rowOf(comparison);
  const name = quote(element.id ?? element.type);
  if (row !== undefined && !hasRow(element, row))
    return `asks for the row ${quote(row)} of ${name}, which has no such row`;
  const named = askedOf(element, row);
  const type = named.type as InputType | 'composite';
  const allowed = operatorsFor(type);
  if (!allowed.includes(is)) return `cannot ask ${name} for ${quote(is)}; ask for ${allowed.join(', ')}`;
  const values: readonly ConditionValue[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const wrong = values.find((each) => !isComparable(each, type, named));
  return wrong === undefined
    ? undefined
    : `compares ${name} with ${quote(String(wrong))}, which is none of its possible answers`;
}

/** The same for a comparison of a reference value. */
export const referenceProblem = ({ value }: Comparison): string | undefined =>
  typeof value === 'boolean' ? 'compares a reference value, which is text, with true or false' : undefined;

/** The row of a matrix that a comparison asks for; of a comparison without one, and of a reference value, none. */
export const rowOf = (comparison: Comparison): string | undefined =>
  'element' in comparison ? comparison.row : undefined;

/** Which rows a matrix has may not be known. */
const hasRow = ({ type, attrs }: Named, row: string): boolean =>
  type === 'matrix' &&
  (attrs['rows'] === undefined || (attrs['rows'] as readonly Option[]).map(idOf).includes(row));

/** What a comparison asks: the element itself, or of one row of a matrix its options, one of them or several. */
export const askedOf = <Element extends Named>(element: Element, row: string | undefined): Element | Named =>
  row === undefined
    ? element
    : {
        type: rowType(element.attrs['multiple'] === true),
        attrs: { options: element.attrs['options'] },
      };

function isComparable(value: ConditionValue, type: InputType | 'composite', named: Named): boolean {
  if (type === 'composite') return false;
  return fits[inputRules[type].kind](value, named);
}

const isOption = (value: ConditionValue, { attrs }: Named): boolean =>
  typeof value === 'string' &&
  (attrs['other'] === true || attrs['options'] === undefined || optionsById(attrs).has(value));

const fits: Readonly<Record<AnswerKind, (value: ConditionValue, named: Named) => boolean>> = {
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
};
