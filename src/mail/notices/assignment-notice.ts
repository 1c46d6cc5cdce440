import { formatCount } from '#ast/basics/format-number.ts';
import { sharedDatabaseOf } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMail } from '#kit/outbox.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { assignmentColumns } from '#rules/stages.ts';
import type { EmailEvent } from '#workspaces/audit/email-events.ts';
import type { NoticeServices } from '../notice-context.ts';

/** Finds a submission that is still assigned to the person. The row is locked, as for other notices. */
const findAssigned = statement(
  'mail.find_assigned',
  'workspace_id id user_id',
  'form_name',
  `select f.name as form_name from submissions s
     join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
    where s.workspace_id = $workspace_id and s.id = $id and s.assignee_id = $user_id and s.trashed_at is null
      for key share of s`,
);

/** Finds a bulk change that assigned submissions, unless it was undone. */
const findAssigning = statement(
  'mail.find_assigning',
  'workspace_id id',
  'form_name total:integer',
  `select f.name as form_name, t.total from tasks t
     join forms f on f.workspace_id = t.workspace_id and f.id = t.form_id and f.deleted_at is null
    where t.workspace_id = $workspace_id and t.id = $id
      and not exists (
        select from tasks u
        where u.workspace_id = $workspace_id and u.subject_id = $id and u.kind = 'submissions.undo')`,
);

/** Finds a member who wants these emails. */
const findAssignee = statement(
  'mail.find_assignee',
  'workspace_id user_id',
  'workspace',
  `select w.name as workspace from members m join workspaces w on w.id = m.workspace_id
    where m.workspace_id = $workspace_id and m.user_id = $user_id`,
);

const findAddress = statement(
  'mail.find_assignee_address',
  'id:text',
  'email',
  `select email from users where id = $id and assignment_emails and ends_at is null`,
);

const findAssigner = statement(
  'mail.find_assigner',
  'workspace_id changed_by? api_key_id?',
  'name?',
  `select coalesce((select name from users where id = $changed_by),
                   (select name from api_keys where workspace_id = $workspace_id and id = $api_key_id)) as name`,
);

/** Emails a person about submissions that were assigned to them, unless they turned these emails off. */
export async function notifyAssigned(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { userId, formId, submissionId, bulkId, by }: Extract<EmailEvent, { kind: 'submissions_assigned' }>,
): Promise<void> {
  const key = { workspace_id: workspaceId };
  const [member, address, [assigner]] = [
    onlyRow(await findAssignee(client, { ...key, user_id: userId })),
    onlyRow(await findAddress(sharedDatabaseOf(client), { id: userId })),
    await findAssigner(client, { ...key, ...by }),
  ];
  const to = address && readMailAddress(address.email);
  if (!member || !to || !config.smtp) return;
  const found =
    submissionId === undefined
      ? onlyRow(await findAssigning(client, { ...key, id: bulkId! }))
      : onlyRow(await findAssigned(client, { ...key, id: submissionId, user_id: userId }));
  if (!found) return;
  const count = 'total' in found ? found.total : 1;
  const list = `${config.publicUrl}/app/forms/${formId}/submissions`;
  const condition = [{ on: 'answer', name: assignmentColumns.assignee, op: 'any', values: [userId] }];
  const heading =
    count === 1
      ? 'A submission was assigned to you'
      : `${formatCount(count, 'submission')} were assigned to you`;
  await enqueueMail(
    client,
    vault,
    { workspaceId, formId, submissionIds: submissionId === undefined ? [] : [submissionId] },
    {
      kind: 'assignment',
      to,
      subject: `${heading}: ${found.form_name}`,
      letter: {
        heading,
        blocks: [
          {
            kind: 'fields',
            fields: [
              { label: 'Form', value: found.form_name },
              { label: 'Assigned by', value: assigner?.name ?? 'A deleted account or key' },
            ],
          },
          submissionId === undefined
            ? {
                kind: 'button',
                label: 'View submissions',
                url: `${list}?where=${encodeURIComponent(JSON.stringify(condition))}`,
              }
            : { kind: 'button', label: 'View submission', url: `${list}/${submissionId}` },
        ],
        reason: `You're receiving this email because you are a member of the workspace “${member.workspace}”. You can turn off these emails in your account: ${config.publicUrl}/app/account`,
      },
    },
  );
}
