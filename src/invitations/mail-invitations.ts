import { isLocale } from '#ast/basics/language-tags.ts';
import { readPublicUrl } from '#forms/form-rows.ts';
import { now } from '#kit/clock.ts';
import { cancelMails, enqueueMails, type NewMail } from '#kit/outbox.ts';
import {
  columns,
  jsonb,
  nullable,
  type Queryable,
  type RowOf,
  statement,
  text,
  textEnum,
  uuid,
} from '#kit/statement.ts';
import { invitationUrl, unsubscribeUrl } from './admission.ts';
import type { InvitationServices, InvitedForm } from './context.ts';
import { type MailPurpose, renderInvitationEmail } from './message.ts';

export const mailColumns = columns(
  'id form_id email name expires_at? form_name workspace_name:text subject message',
  'reminder_subject? reminder_message? remind_after_days',
  {
    reference: jsonb<Record<string, string>>(),
    /** The last email of the invitation. */
    mail_id: nullable(uuid),
    /** The form's `settings.locale`. */
    locale: nullable(text),
    /** The account that invited the person. */
    created_by: nullable(text),
  },
);

/** Records the queued emails of invitations. `ids` and `mail_ids` correspond by position. */
const recordQueuedEmails = statement(
  ['workspace_id ids mail_ids:uuids now', { purpose: textEnum<MailPurpose>() }],
  '',
)`
  update invitations i
     set mail_id = mail.id, mail_error = null,
         reminders = i.reminders + ($purpose = 'reminder')::integer,
         reminded_at = case when $purpose = 'reminder' then $now else i.reminded_at end
    from unnest($ids, $mail_ids) as mail (invitation_id, id)
   where i.workspace_id = $workspace_id and i.id = mail.invitation_id`;

type Mailable = RowOf<typeof mailColumns>;

export type InvitationEmailServices = Pick<InvitationServices, 'vault' | 'config'>;

/**
 * Puts emails for invitations of one form into the outbox, in the caller's transaction. Each replaces a
 * queued email: no person gets two, and revoking only has to stop the last one.
 * @param form `accountId` is the account whose limits apply; the caller checks them with checkDailyEmailLimits.
 */
export async function mailInvitations(
  db: Queryable,
  context: InvitationEmailServices,
  { workspaceId, formId, accountId }: InvitedForm & { accountId: string | null },
  rows: readonly Mailable[],
  purpose: MailPurpose,
): Promise<void> {
  if (rows.length === 0) return;
  const former = rows.flatMap(({ mail_id }) => mail_id ?? []);
  if (former.length > 0) await cancelMails(db, { workspace_id: workspaceId, ids: former });
  const formUrl = await readPublicUrl(db, context.config, { workspaceId, formId });
  const origin = { vault: context.vault, formUrl };
  const mails = rows.map((row) => writeMail(origin, workspaceId, row, purpose));
  const mailIds = await enqueueMails(db, context.vault, { workspaceId, formId, accountId }, mails);
  await recordQueuedEmails(db, {
    workspace_id: workspaceId,
    ids: rows.map(({ id }) => id),
    mail_ids: mailIds,
    purpose,
    now: now(),
  });
}

function writeMail(
  origin: Parameters<typeof invitationUrl>[0],
  workspaceId: string,
  row: Mailable,
  purpose: MailPurpose,
): NewMail {
  const place = { workspaceId, formId: row.form_id, id: row.id };
  const { subject, letter } = renderInvitationEmail(
    {
      subject: row.subject,
      message: row.message,
      reminderSubject: row.reminder_subject,
      reminderMessage: row.reminder_message,
      remindAfterDays: row.remind_after_days,
    },
    {
      email: row.email,
      name: row.name,
      reference: row.reference,
      formName: row.form_name,
      workspaceName: row.workspace_name,
      link: invitationUrl(origin, place),
      expiresAt: row.expires_at,
      locale: isLocale(row.locale) ? row.locale : 'en',
    },
    purpose,
  );
  return {
    kind: purpose,
    to: { address: row.email, ...(row.name !== '' && { name: row.name }) },
    subject,
    letter,
    unsubscribeUrl: unsubscribeUrl(origin, place),
  };
}

/**
 * Records that the last email of an invitation was sent. The first one starts the schedule of its reminders.
 */
const recordEmailSent = statement('workspace_id mail_id now', '')`
  update invitations i
     set sent_at = coalesce(i.sent_at, $now), bounced_at = null, mail_error = null,
         remind_at = case when i.sent_at is null and i.revoked_at is null
                          then (select min($now + make_interval(days => day)) from unnest(b.remind_after_days) as day)
                          else i.remind_at end
    from invitation_batches b
   where i.workspace_id = $workspace_id and i.mail_id = $mail_id
     and b.workspace_id = i.workspace_id and b.id = i.batch_id`;

/** Records why an email could not be delivered. With `bounced_at` the failure is final. */
const recordEmailFailed = statement('workspace_id mail_id error bounced_at:timestamp?', '')`
  update invitations set mail_error = $error, bounced_at = coalesce($bounced_at, bounced_at)
   where workspace_id = $workspace_id and mail_id = $mail_id`;

/** Records the outcome of an invitation's last email, in the transaction that settles the email. */
export async function recordInvitationEmailOutcome(
  db: Queryable,
  {
    workspaceId,
    mailId,
    state,
    error,
  }: { workspaceId: string; mailId: string; state: 'queued' | 'sent' | 'failed'; error: string | null },
): Promise<void> {
  const mail = { workspace_id: workspaceId, mail_id: mailId };
  if (state === 'sent') {
    await recordEmailSent(db, { ...mail, now: now() });
    return;
  }
  await recordEmailFailed(db, {
    ...mail,
    error: error ?? 'The email could not be delivered.',
    bounced_at: state === 'failed' ? now() : null,
  });
}
