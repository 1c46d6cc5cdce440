import { statement, word } from '#kit/statement.ts';
import type { LinkPurpose } from './token.ts';

/** A link, or more time for one that is there already. */
export const saveLink = statement(
  'links.save_link',
  ['workspace_id hash form_id submission_id step? expires_at', { purpose: word<LinkPurpose>() }],
  '',
  `insert into submission_links (workspace_id, hash, form_id, submission_id, purpose, step, expires_at)
   values ($workspace_id, $hash, $form_id, $submission_id, $purpose, $step, $expires_at)
   on conflict (workspace_id, hash) do update set step = excluded.step, expires_at = excluded.expires_at`,
);

/** Where a link of this form leads, while its time lasts. The workspace is found by the form of the address. */
export const findLink = statement(
  'links.find_link',
  ['form_id hash now', { purpose: word<LinkPurpose>() }],
  'workspace_id submission_id step? expires_at',
  `select l.workspace_id, l.submission_id, l.step, l.expires_at
   from form_lookup f
   join submission_links l on l.workspace_id = f.workspace_id and l.hash = $hash and l.form_id = f.form_id
   where f.form_id = $form_id and l.purpose = $purpose and l.expires_at > $now`,
);

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
