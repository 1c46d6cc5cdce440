import { createHash } from 'node:crypto';
import { newId, timeOfId } from '#kit/clock.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';
import { checkIdempotencyKey } from '#workspaces/idempotency.ts';

/**
 * The idempotency key of a submission, which is stored once even if it is sent several times
 * (docs/decisions/0014-idempotent-submits.md). Pages contain it signed, so that visitors cannot use the key
 * of another page.
 */
type SubmissionKey = {
  /** UUIDv7. */
  key: string;
  /** When the page was first served. */
  servedAt: Date;
};

/** The form of a page with a key. */
type KeyedForm = { workspaceId: string; id: string };

/** Creates the key for a page of this form, as the value of its control `_key`. */
export const createSubmissionKey = (vault: Vault, form: KeyedForm): string =>
  signSubmissionKey(vault, form, newId());

/** Signs an existing key, because a page that resumes a submission uses the key of that submission. */
export const signSubmissionKey = (vault: Vault, form: KeyedForm, key: string): string =>
  `${key}.${signLink(vault, 'submission keys', targetOf(form, key))}`;

/**
 * Reads the key of a page; undefined if it was not signed for this form. It never expires, because a page may
 * stay open for days.
 */
export function readSubmissionKey(vault: Vault, form: KeyedForm, text: string): SubmissionKey | undefined {
  const [key, signature, ...rest] = text.split('.');
  if (!key || !signature || rest.length > 0) return undefined;
  if (!verifyLink(vault, 'submission keys', signature, targetOf(form, key))) return undefined;
  return { key, servedAt: timeOfId(key) };
}

const targetOf = ({ workspaceId, id: formId }: KeyedForm, id: string): LinkTarget => ({
  workspaceId,
  formId,
  id,
});

/**
 * Returns the key for a request with the `Idempotency-Key` header: equal values for a form mean the same
 * submission.
 * @param given 1 to 255 visible ASCII characters.
 * @throws ApiError bad_request.
 */
export function submissionKeyOfHeader(formId: string, given: string): string {
  checkIdempotencyKey(given);
  return keyOfText(`${formId}/${given}`);
}

/**
 * Returns the key for the only submission of a person who signed in. It differs from the key of any header,
 * which follows a slash.
 */
export const submissionKeyOfRespondent = (formId: string, subject: string): string =>
  keyOfText(`${formId} ${subject}`);

function keyOfText(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  // UUID version 8 is for custom ids (RFC 9562), so the key cannot equal the UUIDv7 of a page.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
