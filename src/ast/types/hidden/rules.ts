import { defaults } from '../../basics/defaults.ts';
import { type LengthRules, lengthProblem } from '../../rules/check-rules.ts';
import { textRules } from '../text-rules.ts';

/** A line that no visitor is asked for: the form's address says it, or a program. */
export const rules = {
  ...textRules('line', ({ max_length: most = defaults.hidden_length }: LengthRules, text) =>
    lengthProblem({ max_length: most }, text),
  ),
  isUnasked: true,
} as const;
