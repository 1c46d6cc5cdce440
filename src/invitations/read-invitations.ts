import { isCleanText } from '#ast/basics/text.ts';
import { ApiError } from '#kit/errors.ts';
import { finishPage, type ListFooter, type PageRequest, upperIdBound } from '#kit/pagination.ts';
import {
  nullable,
  nullableColumns,
  type RowOf,
  requireRow,
  statement,
  text,
  textEnum,
} from '#kit/statement.ts';
import { type InvitationServices, type InvitedForm, readLinkOrigin } from './context.ts';
import type { InvitationStatus } from './draft.ts';
import { invitationColumnsSql, invitationStatusSql, submissionJoinSql } from './links-file.ts';
import { invitationColumns, type PresentedInvitation, presentInvitation } from './present.ts';

export const findInvitations = statement('workspace_id form_id ids', invitationColumns)`
  select ${invitationColumnsSql}
    from invitations i ${submissionJoinSql}
    join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id
   where i.workspace_id = $workspace_id and i.form_id = $form_id and i.id = any($ids) and f.deleted_at is null`;

/**
 * Lists one page of a form's invitations, newest first, with the exact total in each row. A page without
 * invitations is one row with empty columns; a missing form returns no row.
 */
const listInvitations = statement(
  [
    'workspace_id form_id below_id limit offset',
    {
      status: nullable(textEnum<InvitationStatus>()),
      /** Part of the address or name, in lower case. */
      words: nullable(text),
    },
  ],
  ['total', nullableColumns(invitationColumns)],
)`
  with found as (
    select i.id
      from invitations i ${submissionJoinSql}
     where i.workspace_id = $workspace_id and i.form_id = $form_id
       and ($status is null or ${invitationStatusSql} = $status)
       and ($words is null or strpos(i.address_key, $words) > 0 or strpos(lower(i.name), $words) > 0)),
  page as (select id from found where id < $below_id order by id desc limit $limit offset $offset)
  select (select count(*) from found) as total, ${invitationColumnsSql}
    from forms f
    left join (invitations i join page using (id) ${submissionJoinSql})
           on i.workspace_id = f.workspace_id and i.form_id = f.id
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
   order by i.id desc`;

type ReadingContext = Pick<InvitationServices, 'database' | 'vault' | 'config'>;

/** The filter of a list of invitations; `words` is part of an address or a name. */
type InvitationFilter = { status?: InvitationStatus | undefined; words?: string | undefined };

/** Returns one page of a form's invitations, newest first. @throws ApiError not_found, bad_request. */
export async function readInvitations(
  context: ReadingContext,
  { workspaceId, formId }: InvitedForm,
  { status, words }: InvitationFilter,
  cut: PageRequest,
): Promise<{ data: PresentedInvitation[] } & ListFooter> {
  if (words !== undefined && !isCleanText(words))
    throw new ApiError('bad_request', "`q` contains a character that can't be searched for. Remove it.");
  const rows = await listInvitations(context.database, {
    workspace_id: workspaceId,
    form_id: formId,
    status: status ?? null,
    words: words?.trim().toLowerCase() || null,
    below_id: upperIdBound(cut),
    limit: cut.limit,
    offset: cut.offset,
  });
  if (rows.length === 0) throw new ApiError('not_found');
  const found = rows.filter((row): row is typeof row & RowOf<typeof invitationColumns> => row.id !== null);
  const { rows: taken, ends } = finishPage(cut, found, cut.total ?? rows[0]!.total);
  const origin = await readLinkOrigin(context, { workspaceId, formId });
  const data = taken.map((each) => {
    const { total: _, ...row } = each;
    return presentInvitation(origin, workspaceId, row);
  });
  return { data, ...ends };
}

/** Returns an invitation with its link. @throws ApiError not_found. */
export async function readInvitation(
  context: ReadingContext,
  form: InvitedForm,
  id: string,
): Promise<PresentedInvitation> {
  const found = requireRow(await readInvitationsById(context, form, [id]));
  return found;
}

/** Returns the form's invitations with these ids, in the order of the ids. */
export async function readInvitationsById(
  context: ReadingContext,
  { workspaceId, formId }: InvitedForm,
  ids: readonly string[],
): Promise<PresentedInvitation[]> {
  const rows = await findInvitations(context.database, {
    workspace_id: workspaceId,
    form_id: formId,
    ids: [...ids],
  });
  if (rows.length === 0) return [];
  const origin = await readLinkOrigin(context, { workspaceId, formId });
  const byId = new Map(rows.map((row) => [row.id, presentInvitation(origin, workspaceId, row)]));
  // PostgreSQL returns a UUID in lower case, whatever the case in the request.
  return ids.flatMap((id) => byId.get(id.toLowerCase()) ?? []);
}
