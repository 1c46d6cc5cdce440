import { now } from '#kit/clock.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/** The last mail about an invitation has left: from the first one on its schedule runs. */
const noteMailSent = statement(
  'invitations.note_mail_sent',
  'workspace_id mail_id now',
  '',
  `update invitations i
      set sent_at = coalesce(i.sent_at, $now), bounced_at = null, mail_error = null,
          remind_at = case when i.sent_at is null and i.revoked_at is null
                           then (select min($now + make_interval(days => day)) from unnest(b.remind_after_days) as day)
                           else i.remind_at end
     from invitation_batches b
    where i.workspace_id = $workspace_id and i.mail_id = $mail_id
      and b.workspace_id = i.workspace_id and b.id = i.batch_id`,
);

/** It could not be delivered, in words; for good when `bounced_at` says when. */
const noteMailFailed = statement(
  'invitations.note_mail_failed',
  'workspace_id mail_id error bounced_at:timestamp?',
  '',
  `update invitations set mail_error = $error, bounced_at = coalesce($bounced_at, bounced_at)
    where workspace_id = $workspace_id and mail_id = $mail_id`,
);

/** Writes down how the last mail about an invitation fared, in the transaction that settles the mail. */
export async function followInvitationMail(
  db: Queryable,
  {
    workspaceId,
    mailId,
    state,
    error,
  }: { workspaceId: string; mailId: string; state: 'queued' | 'sent' | 'failed'; error: string | null },
): Promise<void> {
  const mail = { workspace_id: workspaceId, mail_id: mailId };
  if (state === 'sent') {
    await noteMailSent(db, { ...mail, now: now() });
    return;
  }
  await noteMailFailed(db, {
    ...mail,
    error: error ?? 'It could not be delivered.',
    bounced_at: state === 'failed' ? now() : null,
  });
}
