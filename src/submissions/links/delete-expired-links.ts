import { statement } from '#kit/statement.ts';

/** @returns those removed; a full batch of 1,000 means that there may be more. */
export const deleteExpiredLinks = statement(
  'links.delete_expired_links',
  'now',
  'submission_id',
  `/* sweep: across workspaces */
   delete from submission_links where (workspace_id, hash) in (
     select workspace_id, hash from submission_links where expires_at <= $now order by expires_at limit 1000)
   returning submission_id`,
);
