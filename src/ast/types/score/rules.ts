import type { RuleContext } from '../../rules/check-rules.ts';
import { numberRules } from '../number-rules.ts';

/** The points of a quiz. Only the server knows them (answers/quiz.ts); if a client sends a value, it is ignored. */
export const rules = {
  kind: 'number',
  isUnasked: true,
  check: (_attrs: object, value: unknown, context: RuleContext) => numberRules.check({}, value, context),
} as const;
