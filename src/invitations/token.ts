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

/** Where the invited person asks for no more mails: by a visit, or by a POST (RFC 8058). */
export const unsubscribeUrl = (
  { vault, publicUrl }: { vault: Vault; publicUrl: string },
  { id, formId }: { id: string; formId: string },
): string => `${publicUrl}/f/${formId}/unsubscribe/${invitationToken(vault, id)}`;
