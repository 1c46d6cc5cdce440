import { requireFormSettings } from '#forms/form-rows.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox.ts';
import { requireRow, statement } from '#kit/statement.ts';
import type { InvitationServices, InvitedForm, InvitingServices } from './context.ts';
import { checkDailyEmailLimits } from './draft.ts';
import { invitationStatusSql, submissionJoinSql, unsubscribedHashSql } from './links-file.ts';
import { type InvitationEmailServices, mailColumns, mailInvitations } from './mail-invitations.ts';
import { findInvitations } from './read-invitations.ts';

const mailSelection = `i.id, i.form_id, i.email, i.name, i.reference, i.expires_at, i.mail_id, f.name as form_name,
  w.name as workspace_name, f.settings->>'locale' as locale, b.subject, b.message, b.reminder_subject, b.reminder_message, b.remind_after_days,
  b.created_by`;

const mailSource = `invitations i ${submissionJoinSql}
  join invitation_batches b on b.workspace_id = i.workspace_id and b.id = i.batch_id
  join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id and f.deleted_at is null
  join workspaces w on w.id = i.workspace_id`;

const wantsMail = `not exists (select from unsubscribed_addresses u
  where u.workspace_id = i.workspace_id and u.address_key = ${unsubscribedHashSql('i.address_key')})`;

/**
 * SQL: the invitation can still be answered. It is not used, revoked or expired. A submission in the spam box
 * counts as used.
 */
const isOpen = `s.completed_at is null and i.revoked_at is null and (i.expires_at is null or i.expires_at > $now)
  and not exists (select from held_submissions h where h.workspace_id = i.workspace_id and h.key = i.id)`;

/** Locks the invitations with these ids that can be emailed now, until the transaction ends. */
export const lockToMail = statement('workspace_id form_id ids now', mailColumns)`
  select ${mailSelection} from ${mailSource}
   where i.workspace_id = $workspace_id and i.form_id = $form_id and i.id = any($ids) and ${isOpen} and ${wantsMail}
   order by i.id
   for update of i`;

/**
 * Disables the link of an invitation and its reminders. Returns no row if the invitation is missing or
 * already revoked.
 */
const revokeInvitation = statement('workspace_id form_id id now', 'mail_id?')`
  update invitations set revoked_at = $now, remind_at = null
   where workspace_id = $workspace_id and form_id = $form_id and id = $id and revoked_at is null
  returning mail_id`;

/**
 * Emails an invitation with its current link, again or for the first time.
 * @throws ApiError not_found; conflict with the reason why it cannot be emailed; rate_limit_exceeded.
 */
export async function resendInvitation(
  context: InvitingServices,
  form: InvitedForm & { accountId: string | null },
  invitationId: string,
): Promise<void> {
  if (context.config.smtp === undefined) throw await explainNotMailable(context, form, invitationId);
  const isSent = await transaction(context.database, async (client) => {
    const rows = await lockToMail(client, {
      workspace_id: form.workspaceId,
      form_id: form.formId,
      ids: [invitationId],
      now: now(),
    });
    await checkDailyEmailLimits(client, context, form, rows.length);
    await mailInvitations(client, context, form, rows, 'invitation');
    return rows.length > 0;
  });
  if (isSent) context.wakeQueue();
  else throw await explainNotMailable(context, form, invitationId);
}

/** The error message if the server sends no email. */
const noMail =
  'This server sends no email: its operator has not set SMTP_URL. Copy the personal links instead.';

async function explainNotMailable(
  { database, config }: InvitationServices,
  { workspaceId, formId }: InvitedForm,
  id: string,
): Promise<ApiError> {
  const [found] = await findInvitations(database, { workspace_id: workspaceId, form_id: formId, ids: [id] });
  if (!found) return new ApiError('not_found');
  if (config.smtp === undefined) return new ApiError('conflict', noMail);
  if (found.status === 'completed' || found.status === 'revoked')
    return new ApiError('conflict', `This invitation is ${found.status}, so there is nothing to send.`);
  if (found.is_unsubscribed)
    return new ApiError('conflict', `${found.email} has unsubscribed from this workspace's emails.`);
  const isOver = found.expires_at !== null && found.expires_at <= now();
  return new ApiError(
    'conflict',
    isOver
      ? 'This invitation has expired.'
      : 'This invitation was answered. The submission is in the spam box.',
  );
}

/**
 * Disables the link of an invitation and cancels its queued email. The address can be invited again.
 * @throws ApiError not_found; conflict if the person has answered.
 */
export async function revokeFormInvitation(
  { database }: Pick<InvitationServices, 'database'>,
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

/**
 * Locks up to a thousand invitations of a form after `after` that were sent and not answered. People who got
 * an email since `quiet_since`, or whose email is still queued, are omitted.
 * @param ids null for all invitations of the form.
 */
const lockUnanswered = statement('workspace_id form_id ids? after? quiet_since:timestamp now', mailColumns)`
  select ${mailSelection} from ${mailSource}
   where i.workspace_id = $workspace_id and i.form_id = $form_id
     and ($ids is null or i.id = any($ids)) and ($after is null or i.id > $after)
     and ${isOpen} and ${wantsMail} and ${invitationStatusSql} in ('sent', 'opened', 'started')
     and i.sent_at is not null and greatest(i.sent_at, i.reminded_at) < $quiet_since
     and not exists (select from mails m where m.workspace_id = i.workspace_id and m.id = i.mail_id
                                           and (m.state = 'queued' or m.settled_at >= $quiet_since))
   order by i.id limit 1000
   for update of i`;

/**
 * Locks up to a hundred invitations whose scheduled reminder is due, of all forms. Skips those that other
 * processes have locked.
 */
const lockDueReminders = statement('now', ['workspace_id is_open', mailColumns])`
  /* sweep: across workspaces */
  select i.workspace_id,
         ${isOpen} and ${wantsMail} and i.bounced_at is null and f.status = 'published'
           and exists (select from form_lookup l where l.workspace_id = f.workspace_id and l.form_id = f.id) as is_open,
         ${mailSelection}
    from ${mailSource}
   where i.remind_at <= $now
   order by i.remind_at limit 100
   for update of i skip locked`;

const remindAt = 'i.sent_at + make_interval(days => day)';

/** Moves the reminder schedule to its next day in the future, or ends it. */
const advanceReminders = statement('workspace_id ids now', '')`
  update invitations i
     set remind_at = (select min(${remindAt}) from unnest(b.remind_after_days) as day where ${remindAt} > $now)
    from invitation_batches b
   where i.workspace_id = $workspace_id and i.id = any($ids) and b.workspace_id = i.workspace_id and b.id = i.batch_id`;

/**
 * No reminder is sent within this time after another email, so pressing the button twice sends one reminder.
 */
const quietMs = 3_600_000;

/**
 * Reminds people who were invited and have not answered: those with these ids, or all of the form. All
 * reminders are queued in one transaction, so a crash sends none.
 * @returns the number of reminders.
 * @throws ApiError not_found, conflict if the server sends no email, rate_limit_exceeded.
 */
export async function remindUnanswered(
  context: InvitingServices,
  form: InvitedForm & { accountId: string | null },
  ids: readonly string[] | null,
): Promise<number> {
  await requireFormSettings(context.database, form);
  if (context.config.smtp === undefined) throw new ApiError('conflict', noMail);
  const at = now();
  const count = await transaction(context.database, async (client) => {
    let reminded = 0;
    let after: string | null = null;
    for (;;) {
      const rows = await lockUnanswered(client, {
        workspace_id: form.workspaceId,
        form_id: form.formId,
        ids: ids && [...ids],
        after,
        quiet_since: new Date(at.getTime() - quietMs),
        now: at,
      });
      if (rows.length === 0) return reminded;
      await checkDailyEmailLimits(client, context, form, rows.length);
      await mailInvitations(client, context, form, rows, 'reminder');
      reminded += rows.length;
      after = rows.at(-1)!.id;
    }
  });
  if (count > 0) context.wakeQueue();
  return count;
}

/**
 * Sends due reminders in batches. People who have answered, or no longer can, get none; their schedule
 * continues or ends.
 */
export async function sendDueReminders(
  context: InvitationEmailServices & { database: Database; wakeQueue: () => void },
): Promise<void> {
  while ((await remindDue(context)) > 0) context.wakeQueue();
}

async function remindDue(context: InvitationEmailServices & { database: Database }): Promise<number> {
  return transaction(context.database, async (client) => {
    const due = await lockDueReminders(client, { now: now() });
    const byForm = Map.groupBy(due, (row) => `${row.workspace_id} ${row.form_id} ${row.created_by}`);
    for (const rows of byForm.values()) {
      const { workspace_id, form_id, created_by } = rows[0]!;
      const open = rows.filter(({ is_open }) => is_open);
      if (context.config.smtp !== undefined)
        await mailInvitations(
          client,
          context,
          { workspaceId: workspace_id, formId: form_id, accountId: created_by },
          open,
          'reminder',
        );
      await advanceReminders(client, { workspace_id, ids: rows.map(({ id }) => id), now: now() });
    }
    return due.length;
  });
}
