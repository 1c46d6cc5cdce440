import { statement } from '#kit/statement.ts';
import { keptFor } from '#workspaces/retention/rules.ts';

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
