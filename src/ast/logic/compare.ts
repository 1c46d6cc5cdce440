import type { Comparison, ComparisonOperator } from '../basics/condition.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { isBlank, trimText } from '../basics/text.ts';
import { spendWork, spendWorkOnce, type WorkBudget } from '../basics/work.ts';
import { toComparableMoments } from '../rules/moments.ts';
import type { InputRules } from '../types/rules.ts';
import { includesText } from './formula/includes-text.ts';

/** The rules of the input to which the answer belongs. */
type Answered = Pick<InputRules, 'kind' | 'format' | 'row'>;

/** Two values to compare, as numbers or as sortable strings. Undefined if they cannot be compared. */
type Pair = readonly [answer: number, value: number] | readonly [answer: string, value: string] | undefined;

/** A value that conditions compare. Its derived forms are cached for all comparisons. */
export type ComparedValue = {
  readonly value: unknown;
  readonly isBlank: boolean;
  folded?: string;
  members?: ReadonlySet<unknown>;
};

/** @param value a stored answer, or a reference value. */
export const toComparedValue = (value: unknown): ComparedValue => ({ value, isBlank: isBlank(value) });

/** The value that a comparison compares with, prepared once for each version of a form. */
type Operand = {
  readonly plain: ReadonlySet<string | number | boolean>;
  readonly folded: ReadonlySet<string>;
  /** Relative days, such as `today+30`, and their dates for the last day that was used. */
  readonly relative: readonly string[];
  days?: { readonly today: string; readonly limits: ReadonlySet<string> };
};

/** The current day and the work budget. */
type ComparisonContext = { readonly today: string; readonly work: WorkBudget };

/**
 * Returns whether a comparison is true. A blank answer equals and contains nothing, and is neither more nor
 * less than any value. Each `not_` operator is the exact opposite, so it is true for a blank answer. Texts
 * are compared without surrounding white space and ignoring case; dates and times by their order.
 * @param input the rules of the answered element; undefined for a reference value.
 * @param other the answer to the question under `other`.
 * @param around.today YYYY-MM-DD in the form's time zone.
 * @throws TooMuchWork
 */
export function testComparison(
  comparison: Comparison,
  given: ComparedValue,
  input: Answered | undefined,
  around: ComparisonContext,
  other?: ComparedValue,
): boolean {
  spendWork(around.work, stepsOf.comparison);
  const test = tests[comparison.is];
  if (!('other' in comparison)) return test({ comparison, given, input, around });
  const { element, is } = comparison;
  if (!other || other.isBlank) return is.startsWith('not_');
  const { value } = other;
  if (typeof value === 'string') spendWork(around.work, value.length * stepsOf.foldedCharacter);
  // Answers of these kinds are scalars; others are not valid, and equal nothing.
  return test({ comparison: { element, is, value: value as string }, given, input, around });
}

/**
 * Returns whether a comparison of a whole answer, or of one row of a matrix, is true.
 * @throws TooMuchWork
 */
export function testRowComparison(
  comparison: Comparison,
  given: ComparedValue,
  input: Answered | undefined,
  around: ComparisonContext,
  other?: ComparedValue,
): boolean {
  const row = 'row' in comparison ? comparison.row : undefined;
  const answer = row === undefined ? undefined : input?.row?.(given.value, row);
  if (!answer) return testComparison(comparison, given, input, around, other);
  // Each comparison scans the text again to find out whether it is only white space.
  if (typeof answer.value === 'string') spendWork(around.work, answer.value.length * stepsOf.lookedAt);
  return testComparison(comparison, toComparedValue(answer.value), answer, around, other);
}

/** Costs in steps of work (work.ts). */
const stepsOf = {
  comparison: 30,
  operand: 20,
  listed: 3,
  member: 6,
  foldedCharacter: 2,
  lookedAt: 0.25,
  moment: 120,
} as const;

type TestInput = {
  readonly comparison: Comparison;
  readonly given: ComparedValue;
  readonly input: Answered | undefined;
  readonly around: ComparisonContext;
};
type Test = (test: TestInput) => boolean;

const order =
  (holds: (sign: number) => boolean): Test =>
  (test) => {
    const found = pairOf(test, test.comparison.value);
    if (!found) return false;
    const [left, right] = found;
    return holds(left < right ? -1 : Number(left > right));
  };

const equals: Test = (test) => {
  const { value } = test.comparison;
  if (typeof value === 'boolean') return test.given.value === value;
  return isAmong(test);
};

const contains: Test = (test) => {
  const { comparison, given, around } = test;
  const { value } = comparison;
  if (Array.isArray(given.value)) return membersOf(given, around.work).has(value);
  // `contains` compares strings, even if the value is a number.
  const found = pairOf(test, typeof value === 'number' ? String(value) : value);
  return typeof found?.[0] === 'string' && includesText(found[0], String(found[1]), around.work);
};

const oneOf: Test = (test) => {
  const { comparison, given, around } = test;
  if (!Array.isArray(given.value)) return isAmong(test);
  const { plain } = operandOf(comparison, around.work);
  spendWork(around.work, plain.size * stepsOf.listed);
  const members = membersOf(given, around.work);
  return plain.values().some((each) => members.has(each));
};

const tests: Readonly<Record<ComparisonOperator, Test>> = {
  equals,
  not_equals: (test) => !equals(test),
  contains,
  not_contains: (test) => !contains(test),
  one_of: oneOf,
  greater_than: order((sign) => sign > 0),
  at_least: order((sign) => sign >= 0),
  less_than: order((sign) => sign < 0),
  at_most: order((sign) => sign <= 0),
  after: order((sign) => sign > 0),
  before: order((sign) => sign < 0),
  answered: ({ given }) => !given.isBlank,
  not_answered: ({ given }) => given.isBlank,
};

/** Returns whether a single answer is one of the compared values. */
function isAmong({ comparison, given, input, around }: TestInput): boolean {
  const { value: answer } = given;
  if (given.isBlank) return false;
  const operand = operandOf(comparison, around.work);
  const number = numberOf(answer, input);
  if (number !== undefined && operand.plain.has(number)) return true;
  if (typeof answer !== 'string') return false;
  if (!input) return operand.folded.has(foldedOf(given, answer, around.work));
  const { kind } = input;
  // Several choices are always a list. A string instead of a list is not an answer.
  if (kind === 'choices') return false;
  if (kind === 'choice') return operand.plain.has(answer);
  if (kind !== 'moment') return operand.folded.has(foldedOf(given, answer, around.work));
  return operand.plain.has(answer) || daysOf(operand, around).has(answer.slice(0, dayLength));
}

function pairOf({ comparison, given, input, around }: TestInput, value: unknown): Pair {
  const { value: answer } = given;
  if (given.isBlank) return undefined;
  if (typeof value === 'number') {
    const number = numberOf(answer, input);
    return number === undefined ? undefined : [number, value];
  }
  if (typeof answer !== 'string' || typeof value !== 'string') return undefined;
  if (input?.kind === 'choices') return undefined;
  if (input?.kind === 'moment') {
    spendWork(around.work, stepsOf.moment);
    // A value that is not a date or time has no order.
    if (!input.format?.accepts(answer)) return undefined;
    return toComparableMoments(answer, value, around.today);
  }
  const [folded = ''] = operandOf(comparison, around.work).folded;
  return [foldedOf(given, answer, around.work), folded];
}

/** Returns the number to compare. A reference value is text, and is converted. */
function numberOf(answer: unknown, input: Answered | undefined): number | undefined {
  const number = input || typeof answer !== 'string' ? answer : Number(answer);
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined;
}

const fold = (text: string): string => trimText(text).toLowerCase();

function foldedOf(given: ComparedValue, answer: string, work: WorkBudget): string {
  if (given.folded === undefined) {
    spendWork(work, answer.length * stepsOf.foldedCharacter);
    given.folded = fold(answer);
  }
  return given.folded;
}

function membersOf(given: ComparedValue, work: WorkBudget): ReadonlySet<unknown> {
  if (given.members === undefined) {
    const list: readonly unknown[] = Array.isArray(given.value) ? given.value : [];
    spendWork(work, list.length * stepsOf.member);
    given.members = new Set(list);
  }
  return given.members;
}

const dayLength = 'YYYY-MM-DD'.length;

const valuesOf = ({ value = [] }: Comparison) => [value].flat();

function operandOf(comparison: Comparison, work: WorkBudget): Operand {
  spendWorkOnce(work, comparison, valuesOf(comparison).length * stepsOf.operand);
  return makeOperand(comparison);
}

const makeOperand = memoizeByObject((comparison: Comparison): Operand => {
  const values = valuesOf(comparison);
  const isPart = comparison.is === 'contains' || comparison.is === 'not_contains';
  const texts = isPart ? values.map(String) : values.filter((value) => typeof value === 'string');
  return {
    plain: new Set(values),
    folded: new Set(texts.map(fold)),
    relative: texts.filter((text) => text.startsWith('today')),
  };
});

function daysOf(operand: Operand, { today, work }: ComparisonContext): ReadonlySet<string> {
  spendWorkOnce(work, operand, operand.relative.length * stepsOf.moment);
  if (operand.days?.today !== today)
    operand.days = {
      today,
      limits: new Set(operand.relative.map((limit) => toComparableMoments('', limit, today)[1])),
    };
  return operand.days.limits;
}
