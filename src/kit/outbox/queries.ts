import { insertJobs } from '../queue.ts';
import { byteStrings, type Column, double, nullable, statement, text, texts } from '../statement.ts';
import { type MailKind, sendMailJob } from './kinds.ts';

const kinds: Column<MailKind[]> = { pg: texts.pg };

/** Mails of a workspace with the jobs that send them; none for an id that there is. The arrays belong together. */
export const insertMails = statement(
  'outbox.insert_mails',
  [
    'workspace_id form_id? is_private:boolean submission_ids ids lanes recipients:texts',
    'subjects:texts contents:byteStrings',
    {
      /** Whose limits they count against. */
      account_id: nullable(text),
      kinds,
      /** countedAddress of each. */
      counted_as: byteStrings,
      /** Seconds until they may leave. */
      delay: double,
    },
  ],
  '',
  `with made as materialized (
     select *, now() + make_interval(secs => $delay) as run_at, now() as at from unnest($ids, $kinds, $lanes, $recipients, $counted_as, $subjects, $contents)
       as made (id, kind, lane, recipient, counted_as, subject, content)
   ),
   mail as (
     insert into mails (workspace_id, id, kind, form_id, recipient, subject, content, state, is_private,
                        submission_ids, next_attempt_at, created_at)
     select $workspace_id, id, kind, $form_id, recipient, subject, content, 'queued', $is_private,
            $submission_ids, run_at, at
       from made
     on conflict (workspace_id, id) do nothing
     returning id
   ),
   counted as (
     insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at)
     select $workspace_id, id, kind, $form_id, $account_id, counted_as, at
       from made join mail using (id)
     on conflict (workspace_id, id) do nothing
   ),
   job as materialized (
     select $workspace_id as workspace_id, id, '${sendMailJob}' as kind, lane, '{}'::jsonb as payload, run_at, at
       from made join mail using (id)
   ),
   put as (${insertJobs('job')})
   select`,
);

/** Those of the named that had not left. One that is under way at this moment may still arrive. */
export const cancelMails = statement(
  'outbox.cancel_mails',
  'workspace_id ids',
  'id',
  `update mails
      set state = 'cancelled', content = null, next_attempt_at = null, settled_at = now()
    where workspace_id = $workspace_id and id = any($ids) and state = 'queued'
   returning id`,
);

/**
 * Removes the mails that tell of submissions, sent or not. One that left long ago and told of others too said nothing
 * that is kept here.
 * @returns of each that had not left, the others that it told of.
 */
export const deleteMailsAbout = statement(
  'outbox.delete_mails_about',
  'workspace_id submission_ids',
  'other_ids:uuids',
  `with gone as (
     delete from mails
      where workspace_id = $workspace_id and submission_ids <> '{}' and submission_ids && $submission_ids
        and (content is not null or submission_ids <@ $submission_ids)
     returning state, submission_ids
   )
   select case when state = 'queued'
            then array(select unnest(submission_ids) except select unnest($submission_ids)) else '{}' end as other_ids
     from gone`,
);

/** Where a mail is on its way. */
export type MailState = 'queued' | 'sent' | 'failed' | 'cancelled';
export const mailStates = ['queued', 'sent', 'failed', 'cancelled'] as const satisfies readonly MailState[];
