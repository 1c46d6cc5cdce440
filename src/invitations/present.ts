import type { RowOf } from '#kit/statement.ts';
import type { InvitationContext } from './context.ts';
import type { invitationColumns } from './queries.ts';
import { invitationUrl } from './token.ts';

/** A row as its reader sees it. */
export function presentInvitation(
  { vault, config }: Pick<InvitationContext, 'vault' | 'config'>,
  found: RowOf<typeof invitationColumns>,
) {
  const { batch_id: _, ...row } = found;
  const url = invitationUrl({ vault, publicUrl: config.publicUrl }, { id: row.id, formId: row.form_id });
  return { ...row, url };
}

export type PresentedInvitation = ReturnType<typeof presentInvitation>;
