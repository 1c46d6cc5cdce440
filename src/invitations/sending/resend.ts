import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox/queries.ts';
import { requireRow } from '#kit/statement.ts';
import type { InvitationContext, InvitedForm, InvitingContext } from '../context.ts';
import { throttleEmail } from '../limit.ts';
import { findInvitations, revokeInvitation } from '../queries.ts';
import { mailInvitations } from './mail-invitations.ts';
import { lockToMail } from './queries.ts';

/**
 * Mails one invitation again, with the same link; for one that was never mailed, for the first time.
 * @throws ApiError not_found; conflict with the reason why it cannot be mailed; rate_limit_exceeded.
 */
export async function resendInvitation(
  context: InvitingContext,
  form: InvitedForm & { accountId: string | null },
  invitationId: string,
): Promise<void> {
  if (context.config.smtp === undefined) throw await whyNot(context, form, invitationId);
  const isSent = await transaction(context.database, async (client) => {
    const rows = await lockToMail(client, {
      workspace_id: form.workspaceId,
      form_id: form.formId,
      ids: [invitationId],
      now: now(),
    });
    await throttleEmail(client, context, form, rows.length);
    await mailInvitations(client, context, form, rows, 'invitation');
    return rows.length > 0;
  });
  if (isSent) context.wakeQueue();
  else throw await whyNot(context, form, invitationId);
}

/** What is said where nothing can be mailed. */
export const noMail =
  'This service sends no mail: its operator has not set SMTP_URL. Copy the personal links instead.';

async function whyNot(
  { database, config }: InvitationContext,
  { workspaceId, formId }: InvitedForm,
  id: string,
): Promise<ApiError> {
  const [found] = await findInvitations(database, { workspace_id: workspaceId, form_id: formId, ids: [id] });
  if (!found) return new ApiError('not_found');
  if (config.smtp === undefined) return new ApiError('conflict', noMail);
  if (found.status === 'completed' || found.status === 'revoked')
    return new ApiError('conflict', `This invitation is ${found.status}: there is nothing to send.`);
  if (found.is_unsubscribed)
    return new ApiError('conflict', `${found.email} asked for no more mails of this workspace.`);
  const isOver = found.expires_at !== null && found.expires_at <= now();
  return new ApiError(
    'conflict',
    isOver
      ? 'This invitation has run out.'
      : 'This invitation was answered: the answers are in the spam box.',
  );
}

/**
 * Makes a link lead nowhere. Its mail does not leave when it has not left yet, and the address can be invited anew.
 * @throws ApiError not_found; conflict when the person has answered.
 */
export async function revokeOne(
  { database }: Pick<InvitationContext, 'database'>,
  { workspaceId, formId }: InvitedForm,
  invitationId: string,
): Promise<void> {
  const key = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await findInvitations(database, { ...key, ids: [invitationId] }));
  if (found.status === 'completed')
    throw new ApiError('conflict', 'This invitation was answered. Delete its submission instead.');
  await transaction(database, async (client) => {
    const [revoked] = await revokeInvitation(client, { ...key, id: invitationId, now: now() });
    if (revoked?.mail_id) await cancelMails(client, { workspace_id: workspaceId, ids: [revoked.mail_id] });
  });
}
