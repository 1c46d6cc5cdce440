import { parseFormula } from '../../logic/formula/parse.ts';
import { type FormulaAnswers, runFormula } from '../../logic/formula/run.ts';
import type { RuleContext } from '../../rules/check-rules.ts';
import { formatNumber, type NumberFormat } from '../../rules/written-numbers.ts';
import { numberRules } from '../eager-rules.ts';

type Attributes = NumberFormat & { readonly formula: string };

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
  formatNumber: (attrs: NumberFormat, value: number, locale: string) => formatNumber(value, locale, attrs),
} as const;
