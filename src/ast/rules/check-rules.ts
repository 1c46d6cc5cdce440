import { answerLimits } from '../basics/limits.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { countCharacters } from '../basics/text.ts';
import { spendWork, type WorkBudget } from '../basics/work.ts';
import { lazyPattern } from './lazy-pattern.ts';
import { toComparableMoments } from './moments.ts';
import type { Pattern } from './pattern.ts';
import type { BrokenRule } from './problem.ts';

/** Returns whether a number is a whole number of steps away from the base: 0.3 is three steps of 0.1. */
export function isMultipleOfStep(value: number, step: number, base: number): boolean {
  const numbers = [value, step, base].map(decimalOf);
  const scale = Math.min(...numbers.map(({ exponent }) => exponent));
  const [v = 0n, s = 1n, b = 0n] = numbers.map(
    ({ digits, exponent }) => digits * 10n ** BigInt(exponent - scale),
  );
  return (v - b) % s === 0n;
}

/** Returns the decimal digits and exponent of a number. */
function decimalOf(number: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', exponent = '0'] = number.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The context of rules: the current day in the form's time zone, YYYY-MM-DD, and the work budget. */
export type RuleContext = { readonly today: string; readonly work: WorkBudget };

/** The cost of the slower rules, in steps of work (work.ts). */
const steps = { decimal: 400, moment: 120 } as const;

/** The limits that an author sets for answers to an input. */
export type LengthRules = { readonly min_length?: number; readonly max_length?: number };
export type ProseRules = LengthRules & { readonly pattern?: string };
export type NumberRules = { readonly min?: number; readonly max?: number; readonly step?: number };
export type MomentRules = { readonly min?: string; readonly max?: string };

/** Returns the first rule that a text breaks. Length counts characters (code points). */
export function lengthProblem(rules: LengthRules, text: string): BrokenRule | undefined {
  const { min_length: least, max_length: most } = rules;
  if (least === undefined && most === undefined) return undefined;
  const length = countCharacters(text);
  if (least !== undefined && length < least) return { rule: 'min_length', values: { limit: least } };
  if (most !== undefined && length > most) return { rule: 'max_length', values: { limit: most } };
  return undefined;
}

const patternOf = memoizeByObject(({ pattern }: ProseRules): Pattern => lazyPattern.compile!(pattern!));

/** Returns the first rule that a text breaks, including the author's pattern for the whole text. */
export function proseProblem(rules: ProseRules, text: string, { work }: RuleContext): BrokenRule | undefined {
  const problem = lengthProblem(rules, text);
  if (problem || rules.pattern === undefined) return problem;
  const pattern = patternOf(rules);
  if (countCharacters(text) > pattern.maxLength)
    return { rule: 'max_length', values: { limit: pattern.maxLength } };
  return pattern.matches(text, work) ? undefined : { rule: 'pattern' };
}

export function numberProblem(
  { min, max, step }: NumberRules,
  value: number,
  { work }: RuleContext,
): BrokenRule | undefined {
  if (min !== undefined && value < min) return { rule: 'min', values: { limit: min } };
  if (max !== undefined && value > max) return { rule: 'max', values: { limit: max } };
  const base = min ?? 0;
  if (step === undefined) return undefined;
  spendWork(work, steps.decimal);
  if (isMultipleOfStep(value, step, base)) return undefined;
  return { rule: 'step', values: { step, base } };
}

export function momentProblem(
  { min, max }: MomentRules,
  text: string,
  { today, work }: RuleContext,
): BrokenRule | undefined {
  spendWork(work, steps.moment);
  if (min !== undefined) {
    const [answer, limit] = toComparableMoments(text, min, today);
    if (answer < limit) return { rule: 'earliest', values: { limit } };
  }
  if (max !== undefined) {
    const [answer, limit] = toComparableMoments(text, max, today);
    if (answer > limit) return { rule: 'latest', values: { limit } };
  }
  return undefined;
}

/** Returns the first rule that a number of items breaks. */
export function itemCountProblem(
  count: number,
  least: number | undefined,
  most: number | undefined,
  rules: { least: BrokenRule['rule']; most: BrokenRule['rule'] },
): BrokenRule | undefined {
  if (least !== undefined && count < least) return { rule: rules.least, values: { limit: least } };
  if (most !== undefined && count > most) return { rule: rules.most, values: { limit: most } };
  return undefined;
}

/** The values for the problem of a text that exceeds the byte limit. */
export const byteLimitValues = {
  kilobytes: answerLimits.answerBytes / 1024,
  limit: answerLimits.answerBytes,
} as const;
