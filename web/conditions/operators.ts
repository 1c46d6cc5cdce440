import { inputRules, isInputType } from '#ast/input-rules.ts';
import { operatorsOf as operatorsOfKind } from '#ast/logic/check-comparison.ts';
import { type Operator, operators } from '#ast/logic/condition.ts';
import { rowKind } from '#ast/types/matrix/rules.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import type { AskedNode } from './asked-node.ts';

/** What can be asked about: the kinds of answers, groups, and reference values. */
export type Asked = AnswerKind | 'group' | 'reference';

/** What the answer to an element is, or to a row of it, for a condition; undefined for what takes no answer. */
export function askedKind(node: AskedNode): Exclude<Asked, 'reference'> | undefined {
  if (node.row !== undefined) return rowKind(node.attrs['multiple'] === true);
  if (node.type === 'composite') return 'group';
  return isInputType(node.type) ? inputRules[node.type].kind : undefined;
}

/** The comparisons that can be asked of an element; of a value of the address all. */
export function operatorsOf(asked: AskedNode | undefined): readonly Operator[] {
  const kind = asked && askedKind(asked);
  return kind ? operatorsOfKind(kind) : operators;
}

const general: Readonly<Record<Operator, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  one_of: 'is one of',
  greater_than: 'is more than',
  at_least: 'is at least',
  less_than: 'is less than',
  at_most: 'is at most',
  answered: 'is answered',
  not_answered: 'is not answered',
};

const special: { readonly [Kind in Asked]?: { readonly [Name in Operator]?: string } } = {
  moment: {
    greater_than: 'is after',
    at_least: 'is on or after',
    less_than: 'is before',
    at_most: 'is on or before',
  },
  choices: { contains: 'includes', not_contains: 'does not include', one_of: 'includes one of' },
};

/** A comparison in words: `is at least`, of a date `is on or after`. */
export function sayOperator(operator: Operator, asked: Asked | undefined): string {
  return (asked && special[asked]?.[operator]) ?? general[operator];
}

/** Whether the comparison compares with something. */
export const takesValue = (operator: string): boolean =>
  operator !== 'answered' && operator !== 'not_answered';

/** Whether the comparison is one that the form language knows. */
export const isOperator = (is: string): is is Operator => operators.some((known) => known === is);
