import { type NumberRules, numberProblem, type RuleContext } from '../rules/check-rules.ts';
import { refuseAnswer, toCheckedAnswer } from './rules.ts';

export const numberRules = {
  kind: 'number',
  check: (attrs: NumberRules, value: unknown, context: RuleContext) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuseAnswer('number');
    // Adding zero turns -0, which JSON does not keep, into 0.
    return toCheckedAnswer(value + 0, numberProblem(attrs, value + 0, context));
  },
} as const;
