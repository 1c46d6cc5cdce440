import { answerLimits } from '../basics/limits.ts';
import { fitsBytes, isCleanText } from '../basics/text.ts';
import { spendWork } from '../basics/work.ts';
import { byteLimitValues, type MomentRules, momentProblem, type RuleContext } from '../rules/check-rules.ts';
import type { MomentFormat } from '../rules/moments.ts';
import type { BrokenRule } from '../rules/problem.ts';
import { type TextFormat, textFormats } from '../rules/text-formats.ts';
import { type CheckedAnswer, checkCosts, refuseAnswer, toCheckedAnswer } from './rules.ts';

type Problem<Attrs> = (attrs: Attrs, text: string, context: RuleContext) => BrokenRule | undefined;

/** The rules of a text answer in one format. */
export const textRules = <Attrs>(name: keyof typeof textFormats, problem: Problem<Attrs>) => {
  const format: TextFormat = textFormats[name];
  const check = (attrs: Attrs, value: unknown, context: RuleContext): CheckedAnswer<string> => {
    if (typeof value !== 'string') return refuseAnswer('text');
    spendWork(context.work, value.length * checkCosts.character);
    if (!isCleanText(value)) return refuseAnswer('characters');
    if (!fitsBytes(value, answerLimits.answerBytes))
      return { ok: false, broken: { rule: 'bytes', values: byteLimitValues } };
    return format.accepts(value)
      ? toCheckedAnswer(value, problem(attrs, value, context))
      : refuseAnswer(format.rule);
  };
  return { kind: 'text', format, check } as const;
};

/** The rules of a date or time, as text that sorts by time. */
export const momentRules = (format: MomentFormat) =>
  ({ ...textRules<MomentRules>(format, momentProblem), kind: 'moment' }) as const;
