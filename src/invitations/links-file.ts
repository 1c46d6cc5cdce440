import { Readable } from 'node:stream';
import { now } from '#kit/clock.ts';
import { csvRecord } from '#submissions/export/csv.ts';
import type { InvitationContext, InvitedForm } from './context.ts';
import { presentInvitation, type PresentedInvitation } from './present.ts';
import { readOnInvitations } from './queries.ts';

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
