import { createHash } from 'node:crypto';
import type { Vault } from '#kit/vault.ts';

/** What the holder of a link may do with its submission: go on with it, or change what was submitted. */
export type LinkPurpose = 'resume' | 'edit';

/**
 * The token of a submission's link: HMAC-SHA256 under the instance's key, 32 bytes in base64url. To whoever lacks the
 * key it is random (docs/rules.md T3); whoever has it, a mail for instance, can make it again, so that a repeated
 * submit answers the same link. A link that was not stored (queries.ts), or whose time is over, leads nowhere.
 */
export const linkToken = (vault: Vault, purpose: LinkPurpose, submissionId: string): string =>
  vault.sign('submission links', `${purpose}/${submissionId}`);

/** Under which a link is stored and found. The token itself is not kept. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
