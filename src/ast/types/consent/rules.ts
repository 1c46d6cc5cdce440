import { isRecord, own } from '../../basics/json.ts';
import { accept, type CheckedAnswer, type ConsentAnswer, refuse } from '../rules.ts';

/** To agree is `true`, or what is stored of it: what was agreed to is the form's, and when is said by who stores it. */
export const rules = {
  kind: 'consent',
  noun: 'consent',
  // Not to agree is no answer. A page that changes answers sends the moment, by which a row's own consent is found again.
  tidy: (value: unknown) => {
    if (value === false) return undefined;
    return isMoment(value) ? { agreed: true, at: value } : value;
  },
  check: ({ statement }: { readonly statement: string }, value: unknown): CheckedAnswer<ConsentAnswer> => {
    const at = isRecord(value) ? own(value, 'at') : undefined;
    if (!isAgreed(value)) return refuse('consent');
    return accept({ agreed: true, text: statement, ...(isMoment(at) && { at }) });
  },
} as const;

/** ISO 8601 in UTC, as it is stored. */
const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

function isAgreed(value: unknown): boolean {
  return value === true || (isRecord(value) && own(value, 'agreed') === true);
}
