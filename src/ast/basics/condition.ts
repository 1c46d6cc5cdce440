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
  | { readonly element: string /** The id of a row of the matrix that is named. */; readonly row?: string }
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

/** Whether a condition holds, by whether its comparisons do. */
export function holds(condition: Condition, isTrue: (comparison: Comparison) => boolean): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, isTrue));
  if ('any' in condition) return condition.any.some((part) => holds(part, isTrue));
  if ('not' in condition) return !holds(condition.not, isTrue);
  return isTrue(condition);
}

/** The comparisons of a condition, at any depth, in order. */
export function* comparisonsOf(condition: Condition): Generator<Comparison, void> {
  for (const { comparison } of placedComparisons(condition)) yield comparison;
}

/** A comparison and its place: the index of each part on the way to it; what a `not` negates is its part 0. */
type PlacedComparison = { readonly comparison: Comparison; readonly path: readonly number[] };

/** The same with their places. */
export function* placedComparisons(
  condition: Condition,
  path: readonly number[] = [],
): Generator<PlacedComparison, void> {
  if ('all' in condition || 'any' in condition || 'not' in condition) {
    for (const [index, part] of partsOf(condition).entries())
      yield* placedComparisons(part, [...path, index]);
  } else yield { comparison: condition, path };
}

const partsOf = (condition: Exclude<Condition, Comparison>): readonly Condition[] =>
  'all' in condition ? condition.all : 'any' in condition ? condition.any : [condition.not];
