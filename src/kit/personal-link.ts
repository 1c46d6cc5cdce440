import { createHash } from 'node:crypto';
import type { Vault } from './vault.ts';

/** The row that a personal link opens. */
export type LinkTarget = { workspaceId: string; formId: string; id: string };

/** Each purpose has a derived key of its own (vault.ts). */
export type LinkPurpose =
  | 'invitations'
  | 'unsubscribe links'
  | 'edit links'
  | 'resume links'
  | 'file links'
  | 'held uploads'
  | 'submission keys';

/** PostgreSQL writes a UUID in lower case; a path may spell it in upper case. */
const partsOf = ({ workspaceId, formId, id }: LinkTarget, more: readonly string[]): string[] => [
  ...[workspaceId, formId, id].map((each) => each.toLowerCase()),
  ...more,
];

/**
 * Signs a personal link: its purpose, workspace, form and id together, 32 bytes in base64url. Two workspaces can have a
 * row of one id, so a signature of the id alone would open both (docs/rules.md T3).
 * @param more what else the link is bound to, its end for example.
 */
export const signLink = (vault: Vault, purpose: LinkPurpose, target: LinkTarget, ...more: string[]): string =>
  vault.sign(purpose, partsOf(target, more));

/** Checks a signature of signLink in constant time. */
export const verifyLink = (
  vault: Vault,
  purpose: LinkPurpose,
  signature: string,
  target: LinkTarget,
  ...more: string[]
): boolean => vault.verify(purpose, partsOf(target, more), signature);

/** The SHA-256 under which a link is stored and found. The token itself is not stored. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
