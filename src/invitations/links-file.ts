import { Readable } from 'node:stream';
import { now } from '#kit/clock.ts';
import { statement } from '#kit/statement.ts';
import { csvRecord } from '#submissions/export/export.ts';
import type { InvitationContext, InvitedForm } from './context.ts';
import { invitationColumns, type PresentedInvitation, presentInvitation } from './present.ts';

/**
 * An invitation `i` with the submission `s` that has its id as its key. Only the furthest of what happened is its
 * status, and a submission that was deleted for good did not happen.
 */
export const statusOf = `case
    when s.completed_at is not null then 'completed'
    when i.revoked_at is not null then 'revoked'
    when s.id is not null or i.started_at is not null then 'started'
    when i.opened_at is not null then 'opened'
    when i.bounced_at is not null then 'bounced'
    when i.sent_at is not null then 'sent'
    else 'pending' end`;

export const withSubmission = `left join submissions s on s.workspace_id = i.workspace_id and s.key = i.id`;

/** What an address is known by that wants no more mails (unsubscribed_addresses). @param key SQL of the address in lower case. */
export const wishOf = (key: string): string => `encode(sha256(convert_to(${key}, 'UTF8')), 'hex')`;

export const selection = `i.id, i.form_id, i.batch_id, i.email, i.name, ${statusOf} as status, i.reference, i.prefill,
  i.expires_at, i.created_at, i.sent_at, i.opened_at, i.started_at, s.completed_at, i.revoked_at, i.reminders,
  i.reminded_at, i.mail_error,
  exists (select from unsubscribed_addresses u
           where u.workspace_id = i.workspace_id and u.address_key = ${wishOf('i.address_key')}) as is_unsubscribed,
  case when s.completed_at is not null and s.trashed_at is null then s.id end as submission_id`;

/** Some of a form's invitations, newest first, after one of them: for lists that are read to their end. */
const readOnInvitations = statement(
  'invitations.read_on_invitations',
  'workspace_id form_id before:uuid? limit',
  invitationColumns,
  `select ${selection}
     from invitations i ${withSubmission}
    where i.workspace_id = $workspace_id and i.form_id = $form_id and ($before is null or i.id < $before)
    order by i.id desc limit $limit`,
);

type FileContext = Pick<InvitationContext, 'database' | 'vault' | 'config'>;

/** Rows read at once. */
const batchSize = 1_000;

/**
 * The invitations of a form with their links as CSV, newest first: for whoever mails with another program. Links that
 * lead nowhere any more are left out. It is written while it is read.
 */
export const linksFile = (context: FileContext, form: InvitedForm): Readable =>
  Readable.from(writeLinks(context, form));

async function* writeLinks(
  context: FileContext,
  { workspaceId, formId }: InvitedForm,
): AsyncGenerator<string, void> {
  yield csvRecord(['email', 'name', 'status', 'link', 'expires_at']);
  let before: string | null = null;
  for (;;) {
    const rows: Awaited<ReturnType<typeof readOnInvitations>> = await readOnInvitations(context.database, {
      workspace_id: workspaceId,
      form_id: formId,
      before,
      limit: batchSize,
    });
    yield rows
      .filter(leadsSomewhere)
      .map((row) => presentInvitation(context, workspaceId, row))
      .map((row) => csvRecord([row.email, row.name, row.status, row.url, row.expires_at ?? undefined]))
      .join('');
    if (rows.length < batchSize) return;
    before = rows.at(-1)!.id;
  }
}

/** An answered link says so, also after its time. */
const leadsSomewhere = ({
  status,
  expires_at,
}: Pick<PresentedInvitation, 'status' | 'expires_at'>): boolean =>
  status === 'completed' || (status !== 'revoked' && (expires_at === null || expires_at > now()));
