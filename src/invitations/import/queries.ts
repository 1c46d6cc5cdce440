import { failedReason, takeFirst } from '#kit/queue/queries.ts';
import { integer, jsonb, statement } from '#kit/statement.ts';
import type { InvitationDraft } from '../draft.ts';

/** What is invited at once. */
export const insertBatch = statement(
  'invitations.insert_batch',
  [
    'workspace_id id form_id subject message reminder_subject? reminder_message?',
    'remind_after_days is_mailed total:integer created_by? created_at expires_at?',
  ],
  '',
  `insert into invitation_batches (workspace_id, id, form_id, subject, message, reminder_subject, reminder_message,
                                   remind_after_days, is_mailed, total, created_by, created_at, expires_at)
   values ($workspace_id, $id, $form_id, $subject, $message, $reminder_subject, $reminder_message,
           $remind_after_days, $is_mailed, $total, $created_by, $created_at, $expires_at)`,
);

/** Lines that wait to become invitations: a list of {line, draft}. */
export const insertDrafts = statement(
  'invitations.insert_drafts',
  'workspace_id batch_id drafts:jsonText',
  '',
  `insert into invitation_drafts (workspace_id, batch_id, line, draft)
   select $workspace_id, $batch_id, d.line, d.draft from json_to_recordset($drafts) as d (line integer, draft jsonb)`,
);

/** Takes the first lines that wait; in the transaction that makes invitations of them. */
export const takeDrafts = takeFirst(
  'invitations.take_drafts',
  { table: 'invitation_drafts', of: 'batch_id', by: 'line' },
  { line: integer, draft: jsonb<InvitationDraft>() },
);

/** A batch whose form is there, as its steps need it. */
export const findBatch = statement(
  'invitations.find_batch',
  'workspace_id id',
  'id form_id is_mailed expires_at? created_by?',
  `select b.id, b.form_id, b.is_mailed, b.expires_at, b.created_by
     from invitation_batches b join forms f on f.workspace_id = b.workspace_id and f.id = b.form_id
    where b.workspace_id = $workspace_id and b.id = $id and f.deleted_at is null`,
);

export const addToBatch = statement(
  'invitations.add_to_batch',
  'workspace_id id created skipped',
  '',
  `update invitation_batches set created = created + $created, skipped = skipped + $skipped
    where workspace_id = $workspace_id and id = $id`,
);

/** The last batches of a form, newest first: how far each is, and how many of its mails have ended. */
export const listBatches = statement(
  'invitations.list_batches',
  'workspace_id form_id limit',
  [
    'id subject message reminder_subject? reminder_message? remind_after_days is_mailed',
    'total:integer created skipped waiting:bigint created_at created_by? failed_reason?',
  ],
  `select b.id, b.subject, b.message, b.reminder_subject, b.reminder_message, b.remind_after_days, b.is_mailed,
          b.total, b.created, b.skipped,
          (select count(*) from invitations i
             join mails m on m.workspace_id = i.workspace_id and m.id = i.mail_id and m.state = 'queued'
            where i.workspace_id = b.workspace_id and i.batch_id = b.id) as waiting,
          b.created_at, u.name as created_by, ${failedReason('b', 'batch')} as failed_reason
     from invitation_batches b left join users u on u.id = b.created_by
    where b.workspace_id = $workspace_id and b.form_id = $form_id
    order by b.id desc limit $limit`,
);

/** Which of these addresses have an invitation to the form that was not revoked. */
export const selectInvited = statement(
  'invitations.select_invited',
  'workspace_id form_id address_keys',
  'address_key',
  `select address_key from invitations
    where workspace_id = $workspace_id and form_id = $form_id and address_key = any($address_keys)
      and revoked_at is null`,
);
