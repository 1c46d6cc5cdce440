import { answerLimits } from '../limits.ts';
import { countCharacters } from '../text.ts';
import type { InputElement } from '../tree.ts';
import { spend, type Work } from '../work.ts';
import { isOnStep } from './decimal.ts';
import { alignMoments } from './moments.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import type { BrokenRule } from './problem.ts';

/** What rules know besides the answer: the day in the form's time zone, YYYY-MM-DD, and the work that may be done. */
export type RuleContext = { readonly today: string; readonly work: Work };

/** What the slower rules cost, in the steps of work.ts. */
const steps = { decimal: 400, moment: 120 } as const;

type TextLike = Extract<InputElement, { type: 'text' | 'textarea' | 'email' | 'phone' | 'url' }>;
type Prose = Extract<InputElement, { type: 'text' | 'textarea' }>;
type NumberInput = Extract<InputElement, { type: 'number' }>;
type MomentInput = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

/** The first rule that a text breaks. Length counts characters (code points), as a person does. */
export function lengthProblem({ attrs }: TextLike, text: string): BrokenRule | undefined {
  const { min_length: least, max_length: most } = attrs;
  if (least === undefined && most === undefined) return undefined;
  const length = countCharacters(text);
  if (least !== undefined && length < least) return { rule: 'min_length', values: { limit: least } };
  if (most !== undefined && length > most) return { rule: 'max_length', values: { limit: most } };
  return undefined;
}

// A pattern is compiled once for each element.
const patterns = new WeakMap<Prose, Pattern>();

/** Whether the whole text has the form that the author asks for. */
export function patternBroken(input: Prose, text: string, { work }: RuleContext): BrokenRule | undefined {
  const source = input.attrs.pattern;
  if (source === undefined) return undefined;
  const pattern = patterns.get(input) ?? compilePattern(source);
  patterns.set(input, pattern);
  if (countCharacters(text) > pattern.maxLength) {
    return { rule: 'max_length', values: { limit: pattern.maxLength } };
  }
  return pattern.matches(text, work) ? undefined : { rule: 'pattern' };
}

/** The first rule that a number breaks. */
export function numberProblem(
  { attrs }: NumberInput,
  value: number,
  { work }: RuleContext,
): BrokenRule | undefined {
  const { min, max, step } = attrs;
  if (min !== undefined && value < min) return { rule: 'min', values: { limit: min } };
  if (max !== undefined && value > max) return { rule: 'max', values: { limit: max } };
  const base = min ?? 0;
  if (step === undefined) return undefined;
  spend(work, steps.decimal);
  if (isOnStep(value, step, base)) return undefined;
  return { rule: 'step', values: { step, base } };
}

/** The first rule that a date or time breaks. */
export function momentProblem(
  { attrs }: MomentInput,
  text: string,
  { today, work }: RuleContext,
): BrokenRule | undefined {
  const { min, max } = attrs;
  spend(work, steps.moment);
  if (min !== undefined) {
    const [answer, limit] = alignMoments(text, min, today);
    if (answer < limit) return { rule: 'earliest', values: { limit } };
  }
  if (max !== undefined) {
    const [answer, limit] = alignMoments(text, max, today);
    if (answer > limit) return { rule: 'latest', values: { limit } };
  }
  return undefined;
}

/** The first rule that a number of things breaks. */
export function countProblem(
  count: number,
  least: number | undefined,
  most: number | undefined,
  rules: { least: BrokenRule['rule']; most: BrokenRule['rule'] },
): BrokenRule | undefined {
  if (least !== undefined && count < least) return { rule: rules.least, values: { limit: least } };
  if (most !== undefined && count > most) return { rule: rules.most, values: { limit: most } };
  return undefined;
}

/** The values of the problem of a text over the cap. */
export const byteCap = {
  kilobytes: answerLimits.answerBytes / 1024,
  limit: answerLimits.answerBytes,
} as const;
