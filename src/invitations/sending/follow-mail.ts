import { now } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import { noteMailFailed, noteMailSent } from './queries.ts';

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
