import { refuse } from './rules.ts';

/** Only an upload provides a file. A client cannot name one by hand. */
export const fileRules = { kind: 'files', noun: 'files', check: () => refuse('upload') } as const;
