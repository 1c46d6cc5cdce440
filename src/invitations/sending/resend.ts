import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox.ts';
import { requireRow, statement } from '#kit/statement.ts';
import type { InvitationContext, InvitedForm, InvitingContext } from '../context.ts';
import { throttleEmail } from '../limit.ts';
import { mailColumns, mailInvitations } from './mail-invitations.ts';
import { findInvitations } from '../read-invitations.ts';
import { wishOf, withSubmission } from '../links-file.ts';

export const mailSelection = `i.id, i.form_id, i.email, i.name, i.reference, i.expires_at, i.mail_id, f.name as form_name,
  w.name as workspace_name, f.settings->>'locale' as locale, b.subject, b.message, b.reminder_subject, b.reminder_message, b.remind_after_days,
  b.created_by`;

export const mailSource = `invitations i ${withSubmission}
  join invitation_batches b on b.workspace_id = i.workspace_id and b.id = i.batch_id
  join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id and f.deleted_at is null
  join workspaces w on w.id = i.workspace_id`;

export const wantsMail = `not exists (select from unsubscribed_addresses u
  where u.workspace_id = i.workspace_id and u.address_key = ${wishOf('i.address_key')})`;

/** A link that still leads to an answer: not used, also when what was sent lies in the spam box; not revoked, not run out. */
export const isOpen = `s.completed_at is null and i.revoked_at is null and (i.expires_at is null or i.expires_at > $now)
  and not exists (select from held_submissions h where h.workspace_id = i.workspace_id and h.key = i.id)`;

/** Those of the named, of one form, that may be mailed now. Locked until the transaction ends. */
export const lockToMail = statement(
  'invitations.lock_to_mail',
  'workspace_id form_id ids now',
  mailColumns,
  `select ${mailSelection} from ${mailSource}
    where i.workspace_id = $workspace_id and i.form_id = $form_id and i.id = any($ids) and ${isOpen} and ${wantsMail}
    order by i.id
    for update of i`,
);

/** From now on the link leads nowhere, and no mail about it leaves. No row: it is absent, or revoked already. */
const revokeInvitation = statement(
  'invitations.revoke_invitation',
  'workspace_id form_id id now',
  'mail_id?',
  `update invitations set revoked_at = $now, remind_at = null
    where workspace_id = $workspace_id and form_id = $form_id and id = $id and revoked_at is null
   returning mail_id`,
);

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
