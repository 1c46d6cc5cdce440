import { isBlank } from '../answers/blank.ts';
import { answerDefinitions } from '../answers/kinds.ts';
import { alignMoments } from '../rules/moments.ts';
import type { InputType } from '../elements.ts';
import type { Comparison, ConditionValue, Operator } from './condition.ts';

/** What was answered. */
type Answered = { readonly type: InputType };

/** Two values side by side: as numbers, or as texts that sort; undefined when they cannot be compared. */
type Pair = readonly [answer: number, value: number] | readonly [answer: string, value: string] | undefined;

/**
 * Whether a comparison holds. Nothing that is not answered equals, contains, or is more or less than anything;
 * each `not_` operator is the plain contrary, so it holds for a blank answer too.
 * Texts are compared without surrounding white space and without case; dates and times in their own order.
 * @param answer the answer as it is stored, or a reference value.
 * @param input the element that was answered, of which its type is looked at; none for a reference value.
 * @param today YYYY-MM-DD in the form's time zone.
 */
export function isTrue(
  { is, value }: Comparison,
  answer: unknown,
  input: Answered | undefined,
  today: string,
): boolean {
  return tests[is](answer, value, (other) => pairOf(answer, other, input, today));
}

type Test = (answer: unknown, value: ConditionValue | undefined, pair: (value: unknown) => Pair) => boolean;

const order =
  (holds: (sign: number) => boolean): Test =>
  (_answer, value, pair) => {
    const found = pair(value);
    if (!found) return false;
    const [left, right] = found;
    return holds(left < right ? -1 : Number(left > right));
  };

const equals = (answer: unknown, value: unknown, pair: (value: unknown) => Pair): boolean => {
  if (typeof value === 'boolean') return answer === value;
  const found = pair(value);
  return found !== undefined && found[0] === found[1];
};

const contains: Test = (answer, value, pair) => {
  if (Array.isArray(answer)) return answer.includes(value);
  // A part of a text is text, also where a reference value is asked for a number.
  const found = pair(typeof value === 'number' ? String(value) : value);
  return typeof found?.[0] === 'string' && found[0].includes(String(found[1]));
};

const oneOf: Test = (answer, value, pair) =>
  Array.isArray(value) && value.some((each) => isAmong(answer, each, pair));

const isAmong = (answer: unknown, value: string | number, pair: (value: unknown) => Pair): boolean =>
  Array.isArray(answer) ? answer.includes(value) : equals(answer, value, pair);

const tests: Readonly<Record<Operator, Test>> = {
  equals,
  not_equals: (answer, value, pair) => !equals(answer, value, pair),
  contains,
  not_contains: (answer, value, pair) => !contains(answer, value, pair),
  one_of: oneOf,
  greater_than: order((sign) => sign > 0),
  at_least: order((sign) => sign >= 0),
  less_than: order((sign) => sign < 0),
  at_most: order((sign) => sign <= 0),
  answered: (answer) => !isBlank(answer),
  not_answered: (answer) => isBlank(answer),
};

function pairOf(answer: unknown, value: unknown, input: Answered | undefined, today: string): Pair {
  if (isBlank(answer)) return undefined;
  // A reference value is text, and is a number where the condition compares it with one.
  if (typeof value === 'number') {
    const number = input || typeof answer !== 'string' ? answer : Number(answer);
    return typeof number === 'number' && !Number.isNaN(number) ? [number, value] : undefined;
  }
  if (typeof answer !== 'string' || typeof value !== 'string') return undefined;
  if (!input) return [fold(answer), fold(value)];
  const { kind } = answerDefinitions[input.type];
  // Several choices are a list; a text in place of it is no answer.
  if (kind === 'choices') return undefined;
  if (kind === 'choice') return [answer, value];
  return isMomentInput(input) ? alignMoments(answer, value, today) : [fold(answer), fold(value)];
}

const fold = (text: string): string => text.trim().toLowerCase();

function isMomentInput({ type }: Answered): boolean {
  return type === 'date' || type === 'datetime' || type === 'time';
}
