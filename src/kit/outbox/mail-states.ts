import { statement } from '../statement.ts';

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
