import type { Vault } from '#kit/vault.ts';

/** An invitation, wherever it lies. */
export type InvitationKey = { workspaceId: string; id: string };

/**
 * What holding a link proves. `confirmed`: that its holder has the address, for it was mailed there, or the operator
 * handed it over. `unconfirmed`: nothing, for a member was shown it to hand over.
 */
export type LinkProof = 'confirmed' | 'unconfirmed';

const proofs = ['confirmed', 'unconfirmed'] as const satisfies readonly LinkProof[];

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const pattern = new RegExp(`^(${uuid})\\.(${uuid})\\.([\\w-]{43})$`);

/** Links that are mailed and links that are handed over are signed differently: nobody makes one of the other. */
const partsOf = ({ workspaceId, id }: InvitationKey, proof: LinkProof): string[] => [workspaceId, id, proof];

/**
 * `<workspace>.<invitation>.<HMAC-SHA256 of both and of what the link proves>`: to whoever lacks the instance's key it
 * cannot be guessed, and it need not be stored, so that the same link can be mailed again.
 */
export const invitationToken = (vault: Vault, key: InvitationKey, proof: LinkProof): string =>
  `${key.workspaceId}.${key.id}.${vault.sign('member invitations', partsOf(key, proof))}`;

/** The invitation that a token is of; undefined when it is none of ours. Compares in constant time. */
export function readInvitationToken(
  vault: Vault,
  token: string,
): (InvitationKey & { proof: LinkProof }) | undefined {
  const [, workspaceId, id, signature] = pattern.exec(token) ?? [];
  if (!workspaceId || !id || !signature) return undefined;
  const key = { workspaceId, id };
  const proof = proofs.find((each) => vault.verify('member invitations', partsOf(key, each), signature));
  return proof && { ...key, proof };
}
