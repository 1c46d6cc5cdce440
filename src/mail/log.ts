import { columns, statement, texts, word } from '#kit/statement.ts';
import { keptFor } from '#workspaces/retention.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { laneOfMail, type MailKind, mailPaces, sendMailJob } from '#kit/outbox/kinds.ts';
import { insertJobs } from '#kit/queue.ts';
import type { MailState } from '#kit/outbox/mail-states.ts';
import { wishOf } from '#invitations/links-file.ts';

/** @returns those removed; a full batch of 1,000 means that there may be more. */
export const deleteOldMails = statement(
  'mail.delete_old_mails',
  'now',
  'id',
  `/* sweep: across workspaces */
   delete from mails where (workspace_id, id) in (
     select m.workspace_id, m.id from mails m
       join workspaces w on w.id = m.workspace_id
       left join forms f on f.workspace_id = m.workspace_id and f.id = m.form_id
      where m.created_at < $now - ${keptFor('mails')} and m.state <> 'queued'
      order by m.created_at limit 1000)
   returning id`,
);

/** A line of the log; what is private is not in it. */
export const loggedMail = columns(
  'id form_id? form_name? recipient subject attempts:integer error? created_at',
  'settled_at:timestamp? next_attempt_at:timestamp?',
  { kind: word<MailKind>(), state: word<MailState>() },
);

export const loggedMails = `
   select m.id, m.kind, m.form_id, f.name as form_name, m.recipient, m.subject, m.state, m.attempts, m.error,
          m.created_at, m.settled_at, m.next_attempt_at
     from mails m
     left join forms f on f.workspace_id = m.workspace_id and f.id = m.form_id and f.deleted_at is null
    where m.workspace_id = $workspace_id and not m.is_private`;

export const findLoggedMail = statement(
  'mail.find_logged_mail',
  'workspace_id id',
  loggedMail,
  `${loggedMails} and m.id = $id`,
);

/**
 * Lets a failed mail leave once more, now; of two who ask at once, one gets the row. One about an invitation only while
 * it is the last about it, its link was not revoked, and its address did not ask for no more.
 */
const requeueMail = statement(
  'mail.requeue_mail',
  [
    'workspace_id id lanes',
    {
      /** Every kind of mail, and its lane. */
      kinds: texts,
      /** Those about invitations. */
      invitation_kinds: texts,
    },
  ],
  'id',
  `with again as (
     update mails set state = 'queued', next_attempt_at = now(), settled_at = null
      where workspace_id = $workspace_id and id = $id and state = 'failed' and not is_private
        and (kind <> all($invitation_kinds) or exists (
          select from invitations i
           where i.workspace_id = mails.workspace_id and i.mail_id = mails.id and i.revoked_at is null
             and not exists (select from unsubscribed_addresses u
                              where u.workspace_id = i.workspace_id and u.address_key = ${wishOf('i.address_key')})))
     returning id, kind
   ),
   job as materialized (
     select $workspace_id as workspace_id, again.id, '${sendMailJob}' as kind, known.lane, '{}'::jsonb as payload,
            now() as run_at, now() as at
       from again join unnest($kinds, $lanes) as known (kind, lane) on known.kind = again.kind
   ),
   put as (${insertJobs('job')})
   select id from again`,
);

/**
 * Lets a failed mail of a workspace leave once more.
 * @throws ApiError not_found when it is not in the workspace's log, conflict when it has not failed or is about an invitation that
 *   was revoked, whose address wants no mails, or about which another mail was written since.
 */
export async function retryMail(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  const kinds = Object.keys(mailPaces) as MailKind[];
  const again = await requeueMail(database, {
    workspace_id: workspaceId,
    id,
    kinds,
    lanes: kinds.map(laneOfMail),
    invitation_kinds: ['invitation', 'reminder'] satisfies MailKind[],
  });
  if (again.length === 0 && (await findLoggedMail(database, { workspace_id: workspaceId, id })).length === 0)
    throw new ApiError('not_found');
  if (again.length === 0)
    throw new ApiError('conflict', 'Only a mail that failed, and that is still wanted, can be sent again.');
  wakeQueue();
}
