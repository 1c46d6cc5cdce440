import type { RequestScope } from '#kit/operation.ts';
import { columns, jsonb, type RowOf, textEnum } from '#kit/statement.ts';
import { invitationUrl } from './admission.ts';
import type { InvitationStatus } from './draft.ts';

/** The columns of an invitation that callers get. */
export const invitationColumns = columns(
  'id form_id batch_id email name expires_at? created_at sent_at:timestamp?',
  'opened_at:timestamp? started_at:timestamp? completed_at? revoked_at? reminders:integer',
  'reminded_at:timestamp? mail_error:text? is_unsubscribed:boolean submission_id?',
  {
    status: textEnum<InvitationStatus>(),
    reference: jsonb<Record<string, string>>(),
    prefill: jsonb<Record<string, string | string[]>>(),
  },
);

/** Returns an invitation with its link, and without its batch. */
export function presentInvitation(
  origin: Parameters<typeof invitationUrl>[0],
  workspaceId: string,
  found: RowOf<typeof invitationColumns>,
) {
  const { batch_id: _, ...row } = found;
  const target = { workspaceId, formId: row.form_id, id: row.id };
  return { ...row, url: invitationUrl(origin, target) };
}

export type PresentedInvitation = ReturnType<typeof presentInvitation>;

/**
 * Returns whether a caller may see personal links. A link lets its holder answer in a person's name and open
 * their saved answers, so people and keys need the permission to invite.
 */
export const seesLinks = ({ may }: Pick<RequestScope, 'may'>): boolean => may('invitations:write');

/** Returns an invitation without its link if the caller may not see links. */
export const presentInvitationForCaller = (
  scope: Pick<RequestScope, 'may'>,
  row: PresentedInvitation,
): Omit<PresentedInvitation, 'url'> & { url: string | null } => ({
  ...row,
  url: seesLinks(scope) ? row.url : null,
});
