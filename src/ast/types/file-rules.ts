import { refuse } from './rules.ts';

/** Files come only from uploads, so any value that a client sends is rejected. */
export const fileRules = { kind: 'files', noun: 'files', check: () => refuse('upload') } as const;
