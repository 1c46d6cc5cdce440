import { createHash } from 'node:crypto';
import { newId, timeOfId } from '#kit/clock.ts';
import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';
import { requireIdempotencyKey } from '#workspaces/idempotency.ts';

/**
 * The key of a submission, under which it is stored once however often it is sent
 * (docs/decisions/0014-idempotent-submits.md). A page carries it signed, so that nobody can make up another's.
 */
type SubmissionKey = {
  /** UUIDv7. */
  key: string;
  /** When the page was first served. */
  servedAt: Date;
};

/** The form that a page with a key belongs to. */
type KeyedForm = { workspaceId: string; id: string };

/** A new key for a page of this form, as text for its control `_key`. */
export const makeKey = (vault: Vault, form: KeyedForm): string => signKey(vault, form, newId());

/** The text of a key that exists: a page that goes on with a submission carries that submission's key. */
export const signKey = (vault: Vault, form: KeyedForm, key: string): string =>
  `${key}.${signLink(vault, 'submission keys', targetOf(form, key))}`;

/** Reads a page's key. It never expires: a page may stay open for days. Undefined for what was not signed for this form. */
export function readKey(vault: Vault, form: KeyedForm, text: string): SubmissionKey | undefined {
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
 * The key of a client that names its request itself, in the header `Idempotency-Key`: the same text for the same form
 * is the same submission.
 * @param given 1 to 255 visible ASCII characters.
 * @throws ApiError bad_request.
 */
export function keyOfHeader(formId: string, given: string): string {
  requireIdempotencyKey(given);
  const hex = createHash('sha256').update(`${formId}/${given}`).digest('hex');
  // Version 8 is the one for ids of one's own making (RFC 9562), so none can be a page's UUIDv7.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
