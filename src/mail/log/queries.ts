import { wishOf } from '#invitations/queries.ts';
import { insertJobs } from '#kit/queue.ts';
import { type MailKind, sendMailJob } from '#kit/outbox/kinds.ts';
import type { MailState } from '#kit/outbox/queries.ts';
import { columns, nullable, statement, texts, word } from '#kit/statement.ts';
import { keptFor } from '#workspaces/retention/rules.ts';

/** A line of the log; what is private is not in it. */
const loggedMail = columns(
  'id form_id? form_name? recipient subject attempts:integer error? created_at',
  'settled_at:timestamp? next_attempt_at:timestamp?',
  { kind: word<MailKind>(), state: word<MailState>() },
);

const loggedMails = `
   select m.id, m.kind, m.form_id, f.name as form_name, m.recipient, m.subject, m.state, m.attempts, m.error,
          m.created_at, m.settled_at, m.next_attempt_at
     from mails m
     left join forms f on f.workspace_id = m.workspace_id and f.id = m.form_id and f.deleted_at is null
    where m.workspace_id = $workspace_id and not m.is_private`;

/** The mail log, newest first. */
export const selectMails = statement(
  'mail.select_mails',
  ['workspace_id below limit offset', { state: nullable(word<MailState>()) }],
  loggedMail,
  `${loggedMails} and ($state is null or m.state = $state) and m.id < $below
    order by m.id desc
    limit $limit offset $offset`,
);

export const findLoggedMail = statement(
  'mail.find_logged_mail',
  'workspace_id id',
  loggedMail,
  `${loggedMails} and m.id = $id`,
);

/** How many there are of each state. */
export const countMails = statement(
  'mail.count_mails',
  'workspace_id',
  ['count', { state: word<MailState>() }],
  `select state, count(*) as count from mails where workspace_id = $workspace_id and not is_private group by state`,
);

/**
 * Lets a failed mail leave once more, now; of two who ask at once, one gets the row. One about an invitation only while
 * it is the last about it, its link was not revoked, and its address did not ask for no more.
 */
export const requeueMail = statement(
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
