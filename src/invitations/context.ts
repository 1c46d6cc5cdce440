import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';

/** What inviting needs. Without `smtp` nothing is mailed: links are given out some other way. */
export type InvitationContext = {
  readonly database: Database;
  readonly vault: Vault;
  readonly config: Pick<Config, 'publicUrl' | 'smtp'>;
  readonly wakeQueue: () => void;
};

/** What it takes to invite somebody else: within limits. */
export type InvitingContext = InvitationContext & { readonly config: Pick<Config, 'limits'> };

/** The form that people are invited to. */
export type InvitedForm = { workspaceId: string; formId: string };
