import { effectiveForm } from '#ast/form/effective-form.ts';
import { indexQuestionsById } from '#ast/form/fields.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import { listQuestions } from '#ast/form/tree.ts';
import { requireForm } from '#forms/form-rows.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { asWireValue } from '#kit/http.ts';
import { statement, textEnum } from '#kit/statement.ts';
import { failedReasonSql } from '#tasks/read-tasks.ts';
import type { InvitedForm } from './context.ts';
import { createPrefillableCheck, type InvitationStatus, invitationStatuses } from './draft.ts';
import { invitationStatusSql, submissionJoinSql } from './links-file.ts';
import { defaultMessage, placeholders } from './message.ts';
import type { InvitationsOverview } from './shapes.ts';

/** Counts the invitations of a form by status; statuses without invitations are omitted. */
const countInvitations = statement('workspace_id form_id', [
  'count',
  { status: textEnum<InvitationStatus>() },
])`
  select ${invitationStatusSql} as status, count(*) as count
    from invitations i ${submissionJoinSql}
   where i.workspace_id = $workspace_id and i.form_id = $form_id
   group by 1`;

/** Lists the last batches of a form, newest first, with their progress and the number of queued emails. */
const listBatches = statement('workspace_id form_id limit', [
  'id subject message reminder_subject? reminder_message? remind_after_days is_mailed',
  'total:integer created skipped waiting:bigint created_at created_by? failed_reason?',
])`
  select b.id, b.subject, b.message, b.reminder_subject, b.reminder_message, b.remind_after_days, b.is_mailed,
         t.total, t.done as created, t.refused as skipped,
         (select count(*) from invitations i
            join mails m on m.workspace_id = i.workspace_id and m.id = i.mail_id and m.state = 'queued'
           where i.workspace_id = b.workspace_id and i.batch_id = b.id) as waiting,
         b.created_at, u.name as created_by, ${failedReasonSql} as failed_reason
    from invitation_batches b join tasks t on t.workspace_id = b.workspace_id and t.id = b.id
    left join users u on u.id = b.created_by
   where b.workspace_id = $workspace_id and b.form_id = $form_id
   order by b.id desc limit $limit`;

const shownBatches = 5;

/**
 * Returns the state of a form's invitations, and the defaults of the next batch. @throws ApiError not_found.
 */
export async function readInvitationsOverview(
  { database, config }: { database: Database; config: Pick<Config, 'smtp' | 'mailPerMinute'> },
  { workspaceId, formId }: InvitedForm,
): Promise<InvitationsOverview> {
  const key = { workspace_id: workspaceId, form_id: formId };
  const found = await requireForm(database, { workspaceId, formId });
  const form = effectiveForm(found.structure);
  const [counted, batches] = await Promise.all([
    countInvitations(database, key),
    listBatches(database, { ...key, limit: shownBatches }),
  ]);
  const byStatus = new Map(counted.map(({ status, count }) => [status, count]));
  const isPrefillable = createPrefillableCheck(form);
  return {
    access: found.settings.access ?? 'public',
    counts: Object.fromEntries(
      invitationStatuses.map((status) => [status, byStatus.get(status) ?? 0]),
    ) as InvitationsOverview['counts'],
    mails_per_minute: config.smtp === undefined ? null : config.mailPerMinute,
    batches: asWireValue(
      batches.map(
        ({ id, total, created, skipped, is_mailed, waiting, created_at, created_by, failed_reason }) => ({
          id,
          total,
          created,
          skipped,
          is_mailed,
          waiting,
          created_at,
          created_by,
          failed_reason,
        }),
      ),
    ),
    message: lastMessage(batches[0]),
    placeholders,
    questions: [...indexQuestionsById(listQuestions(withPipedLabels(form)))]
      .filter(([id]) => isPrefillable(id))
      .map(([id, { element }]) => ({ id, label: element.attrs.label })),
  };
}

type Batch = Awaited<ReturnType<typeof listBatches>>[number];

/** Returns the message of the last batch as the default of the next one. */
const lastMessage = (batch: Batch | undefined): InvitationsOverview['message'] =>
  batch
    ? {
        subject: batch.subject,
        message: batch.message,
        reminder_subject: batch.reminder_subject,
        reminder_message: batch.reminder_message,
        remind_after_days: batch.remind_after_days,
      }
    : {
        subject: defaultMessage.subject,
        message: defaultMessage.message,
        reminder_subject: null,
        reminder_message: null,
        remind_after_days: [],
      };
