import { type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';

/** The parameter of a form's address that carries a token. */
export const invitationParameter = '_invitation';

/**
 * Returns the token of an invitation's link. It can be made again, so a reminder and the file of links carry the same
 * link. The database stores only its SHA-256.
 */
export const invitationToken = (vault: Vault, invitation: LinkTarget): string =>
  signLink(vault, 'invitations', invitation);

/** Returns the address at which the invited person fills in the form. */
export const invitationUrl = (
  { vault, publicUrl }: { vault: Vault; publicUrl: string },
  invitation: LinkTarget,
): string =>
  `${publicUrl}/f/${invitation.formId}?${invitationParameter}=${invitationToken(vault, invitation)}`;

/**
 * Returns the address at which the invited person unsubscribes: by a visit, or by a POST (RFC 8058). Mail programs and
 * scanners see this address, so its token, `<invitation>.<signature>`, has a purpose of its own and answers no form.
 */
export const unsubscribeUrl = (
  { vault, publicUrl }: { vault: Vault; publicUrl: string },
  invitation: LinkTarget,
): string =>
  `${publicUrl}/f/${invitation.formId}/unsubscribe/${invitation.id}.${signLink(vault, 'unsubscribe links', invitation)}`;

/** Reads the token of an unsubscribe link; its signature is not checked yet. Undefined if it has another form. */
export function readUnsubscribeToken(token: string): { id: string; signature: string } | undefined {
  const [, id, signature] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/.exec(token) ?? [];
  return id && signature ? { id, signature } : undefined;
}

/** Whether the signature of an unsubscribe link belongs to this invitation. */
export const isUnsubscribeLink = (vault: Vault, signature: string, invitation: LinkTarget): boolean =>
  verifyLink(vault, 'unsubscribe links', signature, invitation);
