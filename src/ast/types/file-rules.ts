import { refuseAnswer } from './rules.ts';

/** Files come only from uploads, so any value that a client sends is rejected. */
export const fileRules = { kind: 'files', noun: 'files', check: () => refuseAnswer('upload') } as const;
