import { attributeDefaults } from '../../basics/defaults.ts';
import { type LengthRules, lengthProblem } from '../../rules/check-rules.ts';
import { textRules } from '../text-rules.ts';

/** A line of text from the URL of the form or from a program. Visitors are not asked for it. */
export const rules = {
  ...textRules('line', ({ max_length: most = attributeDefaults.hidden_length }: LengthRules, text) =>
    lengthProblem({ max_length: most }, text),
  ),
  isUnasked: true,
} as const;
