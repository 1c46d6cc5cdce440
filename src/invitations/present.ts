import type { Scope } from '#kit/operation.ts';
import type { RowOf } from '#kit/statement.ts';
import type { InvitationContext } from './context.ts';
import type { invitationColumns } from './queries.ts';
import { invitationUrl } from './token.ts';

/** A row as its reader sees it. */
export function presentInvitation(
  { vault, config }: Pick<InvitationContext, 'vault' | 'config'>,
  workspaceId: string,
  found: RowOf<typeof invitationColumns>,
) {
  const { batch_id: _, ...row } = found;
  const target = { workspaceId, formId: row.form_id, id: row.id };
  const url = invitationUrl({ vault, publicUrl: config.publicUrl }, target);
  return { ...row, url };
}

export type PresentedInvitation = ReturnType<typeof presentInvitation>;

/**
 * Whether a caller sees personal links. A link answers in the name of its person and opens their saved answers, so it
 * takes the permission to invite, for people and for keys.
 */
export const seesLinks = ({ may }: Pick<Scope, 'may'>): boolean => may('invitations:write');

/** An invitation as this reader may see it. */
export const forReader = (
  scope: Pick<Scope, 'may'>,
  row: PresentedInvitation,
): Omit<PresentedInvitation, 'url'> & { url: string | null } => ({
  ...row,
  url: seesLinks(scope) ? row.url : null,
});
