/** The value that a comparison compares with; a list for `one_of`. */
export type ConditionValue = string | number | boolean | readonly (string | number)[];

/** The operators of comparisons. `one_of` is true if the answer equals any value in a list. */
export const comparisonOperators = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'one_of',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'after',
  'before',
  'answered',
  'not_answered',
] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** A comparison of the answer to an input, or of a reference value from the URL of the form. */
export type Comparison = { readonly is: ComparisonOperator; readonly value?: ConditionValue } & (
  | {
      readonly element: string;
      /** The ID of a row, if `element` is a matrix. */
      readonly row?: string;
      /** The ID of the question to compare with, instead of `value`. */
      readonly other?: string;
    }
  | { readonly reference: string }
);

/**
 * A condition that shows, hides or requires an element, or selects a jump. It is JSON and is stored as it was
 * sent.
 */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | Comparison;

/** Where a step leads instead of the next step. The first jump whose condition is true applies. */
export type Jump = { readonly when?: Condition; readonly to: string };

/** The target of a jump to the end of the form. No step can have this ID. */
export const endOfForm = 'end';

/** Evaluates a condition from the results of its comparisons. */
export function evaluateCondition(
  condition: Condition,
  isTrue: (comparison: Comparison) => boolean,
): boolean {
  if ('all' in condition) return condition.all.every((part) => evaluateCondition(part, isTrue));
  if ('any' in condition) return condition.any.some((part) => evaluateCondition(part, isTrue));
  if ('not' in condition) return !evaluateCondition(condition.not, isTrue);
  return isTrue(condition);
}

/** Yields the comparisons of a condition, at any depth, in order. */
export function* comparisonsOf(condition: Condition): Generator<Comparison, void> {
  for (const { comparison } of walkComparisons(condition)) yield comparison;
}

/** Lists the IDs of the elements that a comparison names. */
export const elementIdsOf = (comparison: Comparison): string[] =>
  'element' in comparison ? [comparison.element, comparison.other].filter((id) => id !== undefined) : [];

/** A comparison with its path: the index of each part above it. The part under `not` has index 0. */
type PlacedComparison = { readonly comparison: Comparison; readonly path: readonly number[] };

/** Yields the comparisons of a condition with their paths. */
export function* walkComparisons(
  condition: Condition,
  path: readonly number[] = [],
): Generator<PlacedComparison, void> {
  if ('all' in condition || 'any' in condition || 'not' in condition)
    for (const [index, part] of partsOf(condition).entries()) yield* walkComparisons(part, [...path, index]);
  else yield { comparison: condition, path };
}

const partsOf = (condition: Exclude<Condition, Comparison>): readonly Condition[] =>
  'all' in condition ? condition.all : 'any' in condition ? condition.any : [condition.not];
