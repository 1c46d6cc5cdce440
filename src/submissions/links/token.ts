import { type LinkTarget, signLink } from '#kit/personal-link.ts';
import type { Vault } from '#kit/vault.ts';

/** What the holder of a link may do with its submission: go on with it, or change what was submitted. */
export type LinkPurpose = 'resume' | 'edit';

/**
 * Returns the token of a submission's link. It can be made again, so a repeated submit answers the same link, and a mail
 * carries it too. A link that was not stored (queries.ts), or has expired, opens nothing.
 */
export const linkToken = (vault: Vault, purpose: LinkPurpose, submission: LinkTarget): string =>
  signLink(vault, `${purpose} links`, submission);
