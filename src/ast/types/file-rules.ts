import { refuse } from './rules.ts';

/** Only the upload itself says what a file is; a client must not name one by hand. */
export const fileRules = { kind: 'files', noun: 'files', check: () => refuse('upload') } as const;
