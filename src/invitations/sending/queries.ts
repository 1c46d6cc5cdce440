import { columns, jsonb, nullable, statement, text, uuid, word } from '#kit/statement.ts';
import type { MailPurpose } from '../message/write-letter.ts';
import { statusOf, wishOf, withSubmission } from '../queries.ts';

/** An invitation with all that a mail about it says. */
export const mailColumns = columns(
  'id form_id email name expires_at? form_name workspace_name:text subject message',
  'reminder_subject? reminder_message? remind_after_days',
  {
    reference: jsonb<Record<string, string>>(),
    /** The last mail about it. */
    mail_id: nullable(uuid),
    /** settings.locale */
    locale: nullable(text),
    /** Who invited. */
    created_by: nullable(text),
  },
);

const mailSelection = `i.id, i.form_id, i.email, i.name, i.reference, i.expires_at, i.mail_id, f.name as form_name,
  w.name as workspace_name, f.settings->>'locale' as locale, b.subject, b.message, b.reminder_subject, b.reminder_message, b.remind_after_days,
  b.created_by`;

const mailSource = `invitations i ${withSubmission}
  join invitation_batches b on b.workspace_id = i.workspace_id and b.id = i.batch_id
  join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id and f.deleted_at is null
  join workspaces w on w.id = i.workspace_id`;

const wantsMail = `not exists (select from unsubscribed_addresses u
  where u.workspace_id = i.workspace_id and u.address_key = ${wishOf('i.address_key')})`;

/** A link that still leads to an answer: not used, also when what was sent lies in the spam box; not revoked, not run out. */
const isOpen = `s.completed_at is null and i.revoked_at is null and (i.expires_at is null or i.expires_at > $now)
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

/**
 * Up to a thousand of a form's whose people got the invitation and did not answer, after `after`; those who got a mail
 * since `quiet_since`, or whose mail has not left yet, are let alone.
 * @param ids null: all of the form.
 */
export const lockUnanswered = statement(
  'invitations.lock_unanswered',
  'workspace_id form_id ids? after? quiet_since:timestamp now',
  mailColumns,
  `select ${mailSelection} from ${mailSource}
    where i.workspace_id = $workspace_id and i.form_id = $form_id
      and ($ids is null or i.id = any($ids)) and ($after is null or i.id > $after)
      and ${isOpen} and ${wantsMail} and ${statusOf} in ('sent', 'opened', 'started')
      and i.sent_at is not null and greatest(i.sent_at, i.reminded_at) < $quiet_since
      and not exists (select from mails m where m.workspace_id = i.workspace_id and m.id = i.mail_id
                                            and (m.state = 'queued' or m.settled_at >= $quiet_since))
    order by i.id limit 1000
    for update of i`,
);

/** Up to a hundred of one form's whose scheduled reminder is due; other processes take others. */
export const lockDueReminders = statement(
  'invitations.lock_due_reminders',
  'now',
  ['workspace_id is_open', mailColumns],
  `/* sweep: across workspaces */
   select i.workspace_id,
          ${isOpen} and ${wantsMail} and i.bounced_at is null and f.status = 'published'
            and exists (select from form_lookup l where l.workspace_id = f.workspace_id and l.form_id = f.id) as is_open,
          ${mailSelection}
     from ${mailSource}
    where i.remind_at <= $now
    order by i.remind_at limit 100
    for update of i skip locked`,
);

const remindAt = 'i.sent_at + make_interval(days => day)';

/** The schedule goes on: to the next of its days that is still to come, or to its end. */
export const advanceReminders = statement(
  'invitations.advance_reminders',
  'workspace_id ids now',
  '',
  `update invitations i
      set remind_at = (select min(${remindAt}) from unnest(b.remind_after_days) as day where ${remindAt} > $now)
     from invitation_batches b
    where i.workspace_id = $workspace_id and i.id = any($ids) and b.workspace_id = i.workspace_id and b.id = i.batch_id`,
);

/** These mails are on their way about these invitations. The arrays belong together. */
export const noteMails = statement(
  'invitations.note_mails',
  ['workspace_id ids mail_ids:uuids now', { purpose: word<MailPurpose>() }],
  '',
  `update invitations i
      set mail_id = mail.id, mail_error = null,
          reminders = i.reminders + ($purpose = 'reminder')::integer,
          reminded_at = case when $purpose = 'reminder' then $now else i.reminded_at end
     from unnest($ids, $mail_ids) as mail (invitation_id, id)
    where i.workspace_id = $workspace_id and i.id = mail.invitation_id`,
);

/** The last mail about an invitation has left: from the first one on its schedule runs. */
export const noteMailSent = statement(
  'invitations.note_mail_sent',
  'workspace_id mail_id now',
  '',
  `update invitations i
      set sent_at = coalesce(i.sent_at, $now), bounced_at = null, mail_error = null,
          remind_at = case when i.sent_at is null and i.revoked_at is null
                           then (select min($now + make_interval(days => day)) from unnest(b.remind_after_days) as day)
                           else i.remind_at end
     from invitation_batches b
    where i.workspace_id = $workspace_id and i.mail_id = $mail_id
      and b.workspace_id = i.workspace_id and b.id = i.batch_id`,
);

/** It could not be delivered, in words; for good when `bounced_at` says when. */
export const noteMailFailed = statement(
  'invitations.note_mail_failed',
  'workspace_id mail_id error bounced_at:timestamp?',
  '',
  `update invitations set mail_error = $error, bounced_at = coalesce($bounced_at, bounced_at)
    where workspace_id = $workspace_id and mail_id = $mail_id`,
);

/** Who was invited to this form by the invitation of an unsubscribe link; the workspace is found by the form. */
export const findAddressee = statement(
  'invitations.find_addressee',
  'form_id id',
  'workspace_id address_key',
  `select i.workspace_id, i.address_key
     from form_lookup f
     join invitations i on i.workspace_id = f.workspace_id and i.id = $id and i.form_id = f.form_id
    where f.form_id = $form_id`,
);

/** An address wants no more mails of this workspace. @returns the mails to it that may not have left. */
export const unsubscribeAddress = statement(
  'invitations.unsubscribe_address',
  'workspace_id address_key now',
  'mail_id?',
  `with unsubscribed as (
     insert into unsubscribed_addresses (workspace_id, address_key, created_at)
     values ($workspace_id, ${wishOf('$address_key')}, $now) on conflict do nothing)
   select i.mail_id from invitations i
    where i.workspace_id = $workspace_id and i.address_key = $address_key and i.mail_id is not null`,
);

/** Which of these addresses want no mails of the workspace. */
export const selectUnsubscribed = statement(
  'invitations.select_unsubscribed',
  'workspace_id address_keys',
  'address_key',
  `select asked.address_key from unnest($address_keys) as asked (address_key)
     join unsubscribed_addresses u
       on u.workspace_id = $workspace_id and u.address_key = ${wishOf('asked.address_key')}`,
);
