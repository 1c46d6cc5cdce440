import { isRecord } from '../../basics/json.ts';
import { optionsById } from '../../basics/options.ts';
import { countCharacters, isBlank, trimText } from '../../basics/text.ts';
import { spendWork, type WorkBudget } from '../../basics/work.ts';
import { isDate, isDateTime, isTime } from '../../rules/text-formats.ts';
import { includesText } from './includes-text.ts';
import {
  type AggregateFunction,
  directElementIdsIn,
  type FormulaFunctionName,
  type FormulaInstruction,
  type FormulaProgram,
  isDefinedWithoutAnswers,
} from './program.ts';

/** A stored answer in the form that formulas use. Undefined for a blank answer. */
export type FormulaValue =
  | number
  | string
  | boolean
  | readonly unknown[]
  | Readonly<Record<string, unknown>>
  | undefined;

/** What a formula reads of the answers. `row` is the index of the row that it iterates, or undefined. */
export type FormulaAnswers = {
  readonly answer: (id: string, row: number | undefined) => FormulaValue;
  /** Returns the attributes of an element. Its options can have points. */
  readonly attrsOf: (id: string) => object;
  /** The answered rows of the group of one of the elements, by index. Undefined if none is in a group. */
  readonly rowsAround: (ids: readonly string[]) => readonly number[] | undefined;
  /** Today's date in the form's time zone, YYYY-MM-DD. */
  readonly today: string;
  readonly work: WorkBudget;
};

/** Costs in steps of work (work.ts). `lookedAt` is a scanned character, `counted` a matrix row. */
const steps = { instruction: 40, character: 2, lookedAt: 0.25, counted: 20 } as const;

/** Larger numbers are not exact. */
const maxCalculatedLength = 999_999_999_999_999;

/**
 * Evaluates a formula with equal results in every browser and on the server: sums and products are rounded to
 * 15 decimal digits, which ECMAScript defines exactly. Returns undefined for a division by zero, for more
 * than 15 digits, for missing values, or while nothing that the formula names is answered
 * (`isDefinedWithoutAnswers`). A blank answer counts as 0 in sums and products, but date functions need a day.
 * @throws TooMuchWork
 */
export function runFormula(
  program: FormulaProgram,
  answers: FormulaAnswers,
  decimals: number | undefined,
): number | undefined {
  let hasAnswer = false;
  const answer: FormulaAnswers['answer'] = (id, row) => {
    const value = answers.answer(id, row);
    hasAnswer ||= value !== undefined;
    return value;
  };
  const result = run(program, { ...answers, answer }, undefined);
  if (typeof result !== 'number' || !(hasAnswer || isDefinedWithoutAnswers(program))) return undefined;
  const value = roundFloatingPointNoise(decimals === undefined ? result : round(result, decimals));
  return Math.abs(value) <= maxCalculatedLength ? value : undefined;
}

function run(program: FormulaProgram, answers: FormulaAnswers, row: number | undefined): FormulaValue {
  spendWork(answers.work, program.length * steps.instruction);
  const stack: FormulaValue[] = [];
  for (const step of program) stack.push(valueOf(step, stack, answers, row));
  return stack.pop();
}

function valueOf(
  step: FormulaInstruction,
  stack: FormulaValue[],
  answers: FormulaAnswers,
  row: number | undefined,
): FormulaValue {
  if (step.kind === 'value') return step.value;
  if (step.kind === 'call') return runs[step.name](stack.splice(stack.length - step.count), answers);
  if (step.kind === 'gather')
    return aggregators[step.name](
      step.parts.flatMap((part) => valuesOf(part, answers, row)),
      answers.work,
    );
  const answer = answers.answer(step.id, row);
  return step.kind === 'answer' ? answer : pointsOf(answers.attrsOf(step.id), answer, answers.work);
}

/** Sums the points of the chosen options. A blank answer has no points. */
function pointsOf(attrs: object, value: FormulaValue, work: WorkBudget): number | undefined {
  if (value === undefined) return undefined;
  const chosen = isRecord(value) ? Object.values(value).flat() : [value].flat();
  const options = optionsById(attrs);
  spendWork(work, chosen.length * steps.instruction);
  return chosen.reduce<number>((total, id) => add(total, options.get(id)?.points ?? 0), 0);
}

/** Returns the values that a part adds to a sum: one for each row if it names elements in rows. */
function valuesOf(part: FormulaProgram, answers: FormulaAnswers, row: number | undefined): FormulaValue[] {
  const rows = row === undefined ? answers.rowsAround(directElementIdsIn(part)) : undefined;
  return rows ? rows.map((index) => run(part, answers, index)) : [run(part, answers, row)];
}

type Run = (given: readonly FormulaValue[], answers: FormulaAnswers) => FormulaValue;

const digits = 15;

/**
 * Removes floating-point noise from the result of an operator or function. Rounds to 15 significant digits of
 * the largest number among `from`: `100.1 - 100` is 0.1, with the decimals of 100.1.
 */
function roundFloatingPointNoise(value: number, from: readonly number[] = []): number {
  if (value === 0 || !Number.isFinite(value)) return value + 0;
  const largest = from.reduce((most, each) => Math.max(most, Math.abs(each)), Math.abs(value));
  const kept = digits - (exponentOf(largest) - exponentOf(value));
  // Adding zero turns -0 into 0.
  return kept < 1 ? 0 : Number(value.toPrecision(kept)) + 0;
}

const exponentOf = (value: number): number => Number(value.toExponential().split('e')[1]);

const add = (one: number, other: number): number => roundFloatingPointNoise(one + other, [one, other]);

/** Rounds a terminating quotient: 0.3 / 0.1 is 3. Others keep all digits, so three thirds are 1. */
function divide(one: number, other: number): number {
  const quotient = roundFloatingPointNoise(one / other);
  return roundFloatingPointNoise(quotient * other) === roundFloatingPointNoise(one) ? quotient : one / other;
}

/** Uses the decimal digits of the quotient, because in binary fractions 0.3 is not a multiple of 0.1. */
function remainder(one: number, other: number): number {
  const multiple = roundFloatingPointNoise(other * Math.floor(roundFloatingPointNoise(one / other)));
  return add(one, -multiple);
}

/** A blank answer counts as 0. A value that is not a number makes the result NaN. */
const numberOf = (value: FormulaValue): number =>
  value === undefined ? 0 : typeof value === 'number' ? value : Number.NaN;

const arithmeticFunction =
  (work: (...numbers: number[]) => number): Run =>
  (given) =>
    work(...given.map(numberOf));

const compare =
  (holds: (sign: number) => boolean): Run =>
  ([one, other]) => {
    if (typeof one === 'number' && typeof other === 'number')
      return holds(roundFloatingPointNoise(one) - roundFloatingPointNoise(other));
    // A value that is not a day or time has no order, and could be as long as the whole request.
    if (!isDateOrTime(one) || !isDateOrTime(other)) return false;
    const [left, right] = aligned(one, other);
    return holds(left < right ? -1 : Number(left > right));
  };

/** If both values are days, with or without a time, cuts them to the same length. */
function aligned(one: string, other: string): [string, string] {
  if (!isMoment(one) || !isMoment(other)) return [one, other];
  const length = Math.min(one.length, other.length);
  return [one.slice(0, length), other.slice(0, length)];
}

const isMoment = (text: string): boolean => isDate(text) || isDateTime(text);
const isDateOrTime = (value: FormulaValue): value is string =>
  typeof value === 'string' && (isTime(value) || isMoment(value));

const isEqual: Run = (given, answers) => {
  const [one, other] = given.map((value) =>
    typeof value === 'number' ? roundFloatingPointNoise(value) : value,
  );
  if (typeof one !== 'string' || typeof other !== 'string') return one !== undefined && one === other;
  const [left, right] = aligned(one, other);
  return fold(left, answers) === fold(right, answers);
};

function fold(text: string, { work }: FormulaAnswers): string {
  spendWork(work, text.length * steps.character);
  return trimText(text).toLowerCase();
}

/**
 * Shifts by the decimal digits as written, so that 1.005 is rounded as people expect. Halves are rounded away
 * from zero.
 */
function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > 12 || !Number.isFinite(value)) return Number.NaN;
  const shifted = Math.round(shift(Math.abs(roundFloatingPointNoise(value)), digits));
  return Math.sign(value) * shift(shifted, -digits);
}

function shift(value: number, digits: number): number {
  const [digitsOf, exponent = '0'] = String(value).split('e');
  return Number(`${digitsOf}e${Number(exponent) + digits}`);
}

/** Returns a function that reads a part of a day or time. Blank answers have no value. */
const ofDay =
  (work: (day: string) => number | undefined): Run =>
  ([value]) => {
    const day = dayOf(value);
    return day === undefined ? undefined : work(day);
  };

/** Returns the day of a date, or of a date and time. */
const dayOf = (value: FormulaValue): string | undefined =>
  typeof value === 'string' && isMoment(value) ? value.slice(0, 10) : undefined;

const millisecondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

const dayMs = 86_400_000;

/** Returns the minutes since 1970 for a day with a time, and since midnight for a time. */
function minutesOf(value: FormulaValue): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (isTime(value)) return Date.parse(`1970-01-01T${value}Z`) / 60_000;
  return isMoment(value) ? Date.parse(`${value}${isDate(value) ? 'T00:00' : ''}Z`) / 60_000 : undefined;
}

/** Counts whole years between two days. A birthday on February 29 is on March 1 in other years. */
function yearsBetween(from: string, to: string): number {
  const years = Number(to.slice(0, 4)) - Number(from.slice(0, 4));
  return years - Number(to.slice(5) < from.slice(5));
}

const runs: Readonly<Record<Exclude<FormulaFunctionName, AggregateFunction>, Run>> = {
  if: ([condition, one, other]) => (condition === true ? one : other),
  and: ([one, other]) => one === true && other === true,
  or: ([one, other]) => one === true || other === true,
  not: ([value]) => value !== true,
  '=': isEqual,
  '!=': (given, answers) => isEqual(given, answers) !== true,
  '<': compare((sign) => sign < 0),
  '<=': compare((sign) => sign <= 0),
  '>': compare((sign) => sign > 0),
  '>=': compare((sign) => sign >= 0),
  '+': arithmeticFunction(add),
  '-': arithmeticFunction((one, other) => add(one, -other)),
  '*': arithmeticFunction((one, other) => roundFloatingPointNoise(one * other)),
  '/': arithmeticFunction(divide),
  '%': arithmeticFunction(remainder),
  negative: arithmeticFunction((value) => 0 - value),
  round: ([value, digits]) =>
    value === undefined ? undefined : roundFloatingPointNoise(round(numberOf(value), numberOf(digits))),
  floor: ([value]) =>
    value === undefined ? undefined : Math.floor(roundFloatingPointNoise(numberOf(value))),
  ceil: ([value]) => (value === undefined ? undefined : Math.ceil(roundFloatingPointNoise(numberOf(value)))),
  abs: ([value]) => (value === undefined ? undefined : Math.abs(numberOf(value))),
  length: ([value], { work }) => {
    if (typeof value !== 'string') return 0;
    spendWork(work, value.length * steps.character);
    return countCharacters(value);
  },
  includes: (given, answers) => {
    const [value, part] = given;
    if (Array.isArray(value)) {
      spendWork(answers.work, value.length);
      return value.includes(part);
    }
    if (typeof value !== 'string' || typeof part !== 'string') return false;
    return includesText(fold(value, answers), fold(part, answers), answers.work);
  },
  answered: ([value], { work }) => isAnswered(value, work),
  today: (_given, { today }) => today,
  days_between: ([from, to]) => {
    const [one, other] = [dayOf(from), dayOf(to)];
    return one === undefined || other === undefined
      ? undefined
      : (millisecondsOf(other) - millisecondsOf(one)) / dayMs;
  },
  minutes_between: ([from, to]) => {
    const [one, other] = [minutesOf(from), minutesOf(to)];
    return one === undefined || other === undefined ? undefined : other - one;
  },
  age: ([born, on], { today }) => {
    const [from, to] = [dayOf(born), dayOf(on ?? today)];
    return from === undefined || to === undefined ? undefined : yearsBetween(from, to);
  },
  year: ofDay((day) => Number(day.slice(0, 4))),
  month: ofDay((day) => Number(day.slice(5, 7))),
  day: ofDay((day) => Number(day.slice(8, 10))),
  weekday: ofDay((day) => new Date(millisecondsOf(day)).getUTCDay() || 7),
};

/** Blank answers are skipped. Without any answer, a sum is 0 and the other functions have no value. */
const aggregators: Readonly<
  Record<AggregateFunction, (values: readonly FormulaValue[], work: WorkBudget) => FormulaValue>
> = {
  sum: (values) => answered(values).reduce(add, 0),
  min: (values) => least(answered(values), 1),
  max: (values) => least(answered(values), -1),
  average: (values) => {
    const numbers = answered(values);
    return numbers.length === 0 ? undefined : divide(numbers.reduce(add, 0), numbers.length);
  },
  count: (values, work) => values.reduce<number>((total, value) => total + countOf(value, work), 0),
};

/** Counts the choices, files or rows in an answer. An answer without parts counts as 1. */
function countOf(value: FormulaValue, work: WorkBudget): number {
  if (Array.isArray(value)) return value.length;
  if (!isRecord(value)) return Number(isAnswered(value, work));
  // Counts what was sent. The contents are checked later.
  const { length } = Object.keys(value);
  spendWork(work, length * steps.counted);
  return length;
}

/**
 * Returns whether there is an answer. A text can be entirely white space, so the steps for scanning all of it
 * are spent.
 */
function isAnswered(value: FormulaValue, work: WorkBudget): boolean {
  if (typeof value === 'string') spendWork(work, value.length * steps.lookedAt);
  return !isBlank(value);
}

const answered = (values: readonly FormulaValue[]): number[] =>
  values.flatMap((value) => (value === undefined ? [] : [numberOf(value)]));

const least = (numbers: readonly number[], sign: 1 | -1): number | undefined =>
  numbers.length === 0 ? undefined : sign * Math.min(...numbers.map((value) => sign * value)) + 0;
