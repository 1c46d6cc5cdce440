import { isElementId } from './attributes.ts';
import { limits } from './limits.ts';
import { isEmail } from './rules/text-formats.ts';
import { type Form, type InputElement, listQuestions } from './tree.ts';

/** The addresses of `notification_email`. */
export const recipientsOf = (text: string): string[] => [
  ...new Set(text.split(',').map((address) => address.trim())),
];

/** Whether a text is of addresses that mail can be sent to, not too many of them. */
export function areRecipients(text: string): boolean {
  const addresses = recipientsOf(text);
  return addresses.length <= limits.notificationAddresses && addresses.every(isMailable);
}

/**
 * Mail takes less than HTML does: before the @ at most 64 characters, and no dot first, last or beside another one
 * (RFC 5321, 5322). An address that is none to mail would be one that hears of nothing.
 */
const isMailable = (address: string): boolean =>
  isEmail(address) && /^(?!\.)(?!.*\.[.@])[^@]{1,64}@/.test(address);

/** The elements whose answer may get a receipt: email answers outside repeatable composites. */
export function receiptCandidates(form: Form): InputElement[] {
  return listQuestions(form).flatMap((question) =>
    question.element.type === 'email' ? [question.element] : [],
  );
}

/** Whether an id is one of theirs; without a form, whether it may be one. */
export function isReceiptElement(id: string, form: Form | undefined): boolean {
  return form ? receiptCandidates(form).some((input) => input.attrs.id === id) : isElementId(id);
}
