import { isRecord, own } from '../../json.ts';
import { accept, type CheckedAnswer, type ConsentAnswer, refuse } from '../rules.ts';

/** To agree is `true`, or what is stored of it: what was agreed to is the form's, and when is said by who stores it. */
export const rules = {
  kind: 'consent',
  noun: 'consent',
  // Not to agree is no answer.
  tidy: (value: unknown) => (value === false ? undefined : value),
  check: ({ statement }: { readonly statement: string }, value: unknown): CheckedAnswer<ConsentAnswer> =>
    isAgreed(value) ? accept({ agreed: true, text: statement }) : refuse('consent'),
} as const;

function isAgreed(value: unknown): boolean {
  return value === true || (isRecord(value) && own(value, 'agreed') === true);
}
