import { readPublicUrl } from '#forms/form-rows.ts';
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

/** Returns what the personal links to a form are made of (admission.ts). */
export const readLinkOrigin = async (
  { database, vault, config }: Pick<InvitationServices, 'database' | 'vault' | 'config'>,
  form: InvitedForm,
): Promise<{ vault: Vault; formUrl: string }> => ({
  vault,
  formUrl: await readPublicUrl(database, config, form),
});
