import type { Vault } from '#kit/vault.ts';

/** An invitation, wherever it lies. */
export type InvitationKey = { workspaceId: string; id: string };

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const pattern = new RegExp(`^(${uuid})\\.(${uuid})\\.([\\w-]{43})$`);

/**
 * `<workspace>.<invitation>.<HMAC-SHA256 of both>`: to whoever lacks the instance's key it cannot be guessed, and it
 * need not be stored, so that the same link can be mailed again.
 */
export const invitationToken = (vault: Vault, { workspaceId, id }: InvitationKey): string =>
  `${workspaceId}.${id}.${vault.sign('member invitations', `${workspaceId}/${id}`)}`;

/** The invitation that a token is of; undefined when it is none of ours. Compares in constant time. */
export function readInvitationToken(vault: Vault, token: string): InvitationKey | undefined {
  const [, workspaceId, id, signature] = pattern.exec(token) ?? [];
  if (!workspaceId || !id || !signature) return undefined;
  const isOurs = vault.verify('member invitations', `${workspaceId}/${id}`, signature);
  return isOurs ? { workspaceId, id } : undefined;
}
