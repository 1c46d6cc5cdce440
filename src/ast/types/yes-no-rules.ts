import { accept, refuse } from './rules.ts';

export const yesNoRules = {
  kind: 'boolean',
  check: (_attrs: object, value: unknown) => (typeof value === 'boolean' ? accept(value) : refuse('yes_no')),
} as const;
