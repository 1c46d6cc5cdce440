import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';

/** The services for invitations. Without `smtp` no email is sent; links are handed out in another way. */
export type InvitationServices = {
  readonly database: Database;
  readonly vault: Vault;
  readonly config: Pick<Config, 'publicUrl' | 'smtp'>;
  readonly wakeQueue: () => void;
};

export type InvitingServices = InvitationServices & { readonly config: Pick<Config, 'limits'> };

export type InvitedForm = { workspaceId: string; formId: string };
