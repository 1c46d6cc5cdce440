import { isCleanText } from '#ast/text.ts';
import { belowId, type Cut, endCut, type Ends } from '#kit/cursor.ts';
import { ApiError } from '#kit/errors.ts';
import { requireRow, type RowOf } from '#kit/statement.ts';
import type { InvitationContext, InvitedForm } from './context.ts';
import { type PresentedInvitation, presentInvitation } from './present.ts';
import { findInvitations, type invitationColumns, listInvitations } from './queries.ts';
import type { InvitationStatus } from './status.ts';

type ReadingContext = Pick<InvitationContext, 'database' | 'vault' | 'config'>;

/** Which invitations are looked for; `words` is a part of an address or a name. */
type InvitationFilter = { status?: InvitationStatus | undefined; words?: string | undefined };

/** One page of a form's invitations, newest first. @throws ApiError not_found, bad_request. */
export async function readInvitations(
  context: ReadingContext,
  { workspaceId, formId }: InvitedForm,
  { status, words }: InvitationFilter,
  cut: Cut,
): Promise<{ data: PresentedInvitation[] } & Ends> {
  if (words !== undefined && !isCleanText(words))
    throw new ApiError('bad_request', '"q" holds a character that cannot be looked for.');
  const rows = await listInvitations(context.database, {
    workspace_id: workspaceId,
    form_id: formId,
    status: status ?? null,
    words: words?.trim().toLowerCase() || null,
    below_id: belowId(cut),
    limit: cut.limit,
    offset: cut.offset,
  });
  if (rows.length === 0) throw new ApiError('not_found');
  const found = rows.filter((row): row is typeof row & RowOf<typeof invitationColumns> => row.id !== null);
  const { rows: taken, ends } = endCut(cut, found, cut.total ?? rows[0]!.total);
  const data = taken.map((each) => {
    const { total: _, ...row } = each;
    return presentInvitation(context, workspaceId, row);
  });
  return { data, ...ends };
}

/** @throws ApiError not_found. */
export async function readInvitation(
  context: ReadingContext,
  form: InvitedForm,
  id: string,
): Promise<PresentedInvitation> {
  const found = requireRow(await readNamed(context, form, [id]));
  return found;
}

/** Those of the form that have these ids, in their order. */
export async function readNamed(
  context: ReadingContext,
  { workspaceId, formId }: InvitedForm,
  ids: readonly string[],
): Promise<PresentedInvitation[]> {
  const rows = await findInvitations(context.database, {
    workspace_id: workspaceId,
    form_id: formId,
    ids: [...ids],
  });
  const byId = new Map(rows.map((row) => [row.id, presentInvitation(context, workspaceId, row)]));
  // PostgreSQL writes a UUID in lower case, however it was sent.
  return ids.flatMap((id) => byId.get(id.toLowerCase()) ?? []);
}
