import type { Vault } from '#kit/vault.ts';

/** The parameter of a form's address that carries a token. */
export const invitationParameter = '_invitation';

/**
 * The token of an invitation's link: HMAC-SHA256 under the instance's key, 32 bytes in base64url. To whoever lacks the
 * key it is random; whoever has it can make it again, so that a reminder carries the same link and a list can be
 * copied, while the database keeps its SHA-256 alone (hashOfToken of #submissions/links/token.ts).
 */
export const invitationToken = (vault: Vault, invitationId: string): string =>
  vault.sign('invitations', invitationId);

/** Where the invited person fills in the form. */
export const invitationUrl = (
  { vault, publicUrl }: { vault: Vault; publicUrl: string },
  { id, formId }: { id: string; formId: string },
): string => `${publicUrl}/f/${formId}?${invitationParameter}=${invitationToken(vault, id)}`;

/**
 * Where the invited person asks for no more mails: by a visit, or by a POST (RFC 8058). Mail programs and scanners see
 * this address, so its token, `<invitation>.<HMAC-SHA256 of it>`, opens nothing else: it answers no form.
 */
export const unsubscribeUrl = (
  { vault, publicUrl }: { vault: Vault; publicUrl: string },
  { id, formId }: { id: string; formId: string },
): string => `${publicUrl}/f/${formId}/unsubscribe/${id}.${vault.sign('unsubscribe links', id)}`;

/** The invitation whose mails the token of such an address ends; undefined when it is none of ours. */
export function readUnsubscribeToken(vault: Vault, token: string): string | undefined {
  const [, id, signature] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
  return id && signature && vault.verify('unsubscribe links', id, signature) ? id : undefined;
}
