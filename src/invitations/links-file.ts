import { Readable } from 'node:stream';
import { now } from '#kit/clock.ts';
import { statement } from '#kit/statement.ts';
import { csvRecord } from '#submissions/export/export.ts';
import { type InvitationServices, type InvitedForm, readLinkOrigin } from './context.ts';
import { invitationColumns, type PresentedInvitation, presentInvitation } from './present.ts';

/**
 * SQL for the status of an invitation `i`; the submission `s` has the invitation's id as its key. The
 * furthest stage that was reached decides. A permanently deleted submission does not count.
 */
export const invitationStatusSql = `case
    when s.completed_at is not null then 'completed'
    when i.revoked_at is not null then 'revoked'
    when s.id is not null or i.started_at is not null then 'started'
    when i.opened_at is not null then 'opened'
    when i.bounced_at is not null then 'bounced'
    when i.sent_at is not null then 'sent'
    else 'pending' end`;

export const submissionJoinSql = `left join submissions s on s.workspace_id = i.workspace_id and s.key = i.id`;

/**
 * Returns SQL for the hash under which an unsubscribed address is stored (unsubscribed_addresses).
 * @param key SQL of the address in lower case.
 */
export const unsubscribedHashSql = (key: string): string =>
  `encode(sha256(convert_to(${key}, 'UTF8')), 'hex')`;

export const invitationColumnsSql = `i.id, i.form_id, i.batch_id, i.email, i.name, ${invitationStatusSql} as status, i.reference, i.prefill,
  i.expires_at, i.created_at, i.sent_at, i.opened_at, i.started_at, s.completed_at, i.revoked_at, i.reminders,
  i.reminded_at, i.mail_error,
  exists (select from unsubscribed_addresses u
           where u.workspace_id = i.workspace_id and u.address_key = ${unsubscribedHashSql('i.address_key')}) as is_unsubscribed,
  case when s.completed_at is not null and s.trashed_at is null then s.id end as submission_id`;

/** Reads the next batch of a form's invitations, newest first. Repeated to read all of them. */
const readOnInvitations = statement('workspace_id form_id before:uuid? limit', invitationColumns)`
  select ${invitationColumnsSql}
    from invitations i ${submissionJoinSql}
   where i.workspace_id = $workspace_id and i.form_id = $form_id and ($before is null or i.id < $before)
   order by i.id desc limit $limit`;

type FileContext = Pick<InvitationServices, 'database' | 'vault' | 'config'>;

/** The number of rows per read. */
const batchSize = 1_000;

/**
 * Streams the invitations of a form as CSV with their links, newest first, for sending with another program.
 * Links that no longer work are omitted.
 */
export const linksFile = (context: FileContext, form: InvitedForm): Readable =>
  Readable.from(writeLinks(context, form));

async function* writeLinks(
  context: FileContext,
  { workspaceId, formId }: InvitedForm,
): AsyncGenerator<string, void> {
  yield csvRecord(['email', 'name', 'status', 'link', 'expires_at']);
  const origin = await readLinkOrigin(context, { workspaceId, formId });
  let before: string | null = null;
  for (;;) {
    const rows: Awaited<ReturnType<typeof readOnInvitations>> = await readOnInvitations(context.database, {
      workspace_id: workspaceId,
      form_id: formId,
      before,
      limit: batchSize,
    });
    yield rows
      .filter(isLinkUsable)
      .map((row) => presentInvitation(origin, workspaceId, row))
      .map((row) => csvRecord([row.email, row.name, row.status, row.url, row.expires_at ?? undefined]))
      .join('');
    if (rows.length < batchSize) return;
    before = rows.at(-1)!.id;
  }
}

/** An answered link still opens a page that says so, even after it has expired. */
const isLinkUsable = ({ status, expires_at }: Pick<PresentedInvitation, 'status' | 'expires_at'>): boolean =>
  status === 'completed' || (status !== 'revoked' && (expires_at === null || expires_at > now()));
