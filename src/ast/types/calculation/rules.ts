import { parseFormula } from '../../logic/formula/parse.ts';
import { type FormulaAnswers, runFormula } from '../../logic/formula/run.ts';
import type { RuleContext } from '../../rules/check-rules.ts';
import { formatNumber, type NumberMarks } from '../../rules/written-numbers.ts';
import { numberRules } from '../number-rules.ts';

type Attributes = {
  readonly formula: string;
  readonly decimals?: number;
  readonly prefix?: string;
  readonly suffix?: string;
};

/** A number calculated from other answers. If a client sends a value, it is ignored. */
export const rules = {
  kind: 'number',
  isUnasked: true,
  check: (_attrs: Attributes, value: unknown, context: RuleContext) => numberRules.check({}, value, context),
  /**
   * Returns the result, rounded to the shown decimals.
   * @throws TooMuchWork
   */
  calculate: ({ formula, decimals }: Attributes, answers: FormulaAnswers): number | undefined => {
    const parsed = parseFormula(formula);
    return parsed.ok ? runFormula(parsed.program, answers, decimals) : undefined;
  },
  say: ({ decimals, prefix = '', suffix = '' }: Attributes, value: number, numbers: NumberMarks) =>
    `${prefix}${formatNumber(value, numbers, decimals)}${suffix}`,
} as const;
