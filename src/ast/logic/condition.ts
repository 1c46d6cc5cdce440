/** What a condition compares with; a list for `one_of`. */
export type ConditionValue = string | number | boolean | readonly (string | number)[];

/** How an answer or a reference value is compared. `one_of` holds for each of several values. */
export const operators = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'one_of',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'answered',
  'not_answered',
] as const;
export type Operator = (typeof operators)[number];

/** One comparison: of the answer to an input, or of a reference value of the form's address. */
export type Comparison = { readonly is: Operator; readonly value?: ConditionValue } & (
  | { readonly element: string }
  | { readonly reference: string }
);

/** When something is shown, hidden, required or jumped to. It is JSON and stays as it was sent. */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | Comparison;

/** Where a step leads instead of to the next one: the first jump whose condition holds wins. */
export type Jump = { readonly when?: Condition; readonly to: string };

/** The target of a jump past every step; no step may have this id. */
export const endOfForm = 'end';

/** The comparisons of a condition, at any depth, in order. */
export function* comparisonsOf(condition: Condition): Generator<Comparison, void> {
  if ('all' in condition) for (const part of condition.all) yield* comparisonsOf(part);
  else if ('any' in condition) for (const part of condition.any) yield* comparisonsOf(part);
  else if ('not' in condition) yield* comparisonsOf(condition.not);
  else yield condition;
}
