import { getProperty, isRecord } from '../../basics/json.ts';
import { acceptAnswer, type CheckedAnswer, type ConsentAnswer, refuseAnswer } from '../rules.ts';

/**
 * A consent is answered with `true` or with its stored object. The agreed text comes from the form, and the
 * time from the code that stores it.
 */
export const rules = {
  kind: 'consent',
  noun: 'consent',
  // `false` is not an answer. A page sends the time, which identifies the stored consent of a row.
  tidy: (value: unknown) => {
    if (value === false) return undefined;
    return isMoment(value) ? { agreed: true, at: value } : value;
  },
  check: ({ statement }: { readonly statement: string }, value: unknown): CheckedAnswer<ConsentAnswer> => {
    const at = isRecord(value) ? getProperty(value, 'at') : undefined;
    if (!isAgreed(value)) return refuseAnswer('consent');
    return acceptAnswer({ agreed: true, text: statement, ...(isMoment(at) && { at }) });
  },
} as const;

/** ISO 8601 in UTC, as it is stored. */
const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

function isAgreed(value: unknown): boolean {
  return value === true || (isRecord(value) && getProperty(value, 'agreed') === true);
}
