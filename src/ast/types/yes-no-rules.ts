import { acceptAnswer, refuseAnswer } from './rules.ts';

export const yesNoRules = {
  kind: 'boolean',
  check: (_attrs: object, value: unknown) =>
    typeof value === 'boolean' ? acceptAnswer(value) : refuseAnswer('yes_no'),
} as const;
