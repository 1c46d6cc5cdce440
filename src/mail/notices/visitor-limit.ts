import { type Queryable, statement } from '#kit/statement.ts';
import type { MailKind } from '#kit/outbox/kinds.ts';

/** Lets one mail at a time be counted and added for an address, until the transaction ends. */
const lockRecipient = statement(
  'mail.lock_recipient',
  'workspace_id recipient',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`,
);

/** How many mails of some kinds were written to an address, in whatever case, in the last so many seconds. */
const countMailsTo = statement(
  'mail.count_mails_to',
  'workspace_id recipient kinds seconds',
  'count',
  `select count(*) as count from mails
    where workspace_id = $workspace_id and lower(recipient) = lower($recipient) and kind = any($kinds)
      and created_at > now() - make_interval(secs => $seconds)`,
);

/** What was written to people whom nobody asked: see countMailsTo. */
const visitorKinds: readonly MailKind[] = ['receipt', 'resume_link'];

/** Mails of a workspace to one address that only a visitor entered, in a day. */
const mostADay = 5;
const secondsOfDay = 86_400;

/**
 * Whether an address that a visitor entered may be written to once more: a public form is not for filling somebody
 * else's inbox. Exact for mails that are told of at the same time, within the transaction that adds them.
 */
export async function maySendToVisitor(
  db: Queryable,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  await lockRecipient(db, { workspace_id: workspaceId, recipient: address });
  const [counted] = await countMailsTo(db, {
    workspace_id: workspaceId,
    recipient: address,
    kinds: [...visitorKinds],
    seconds: secondsOfDay,
  });
  return counted!.count < mostADay;
}
