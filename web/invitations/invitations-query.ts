import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  ImportPreview,
  ImportSource,
  ImportStarted,
  InvitationRow,
  InvitationsOverview,
  InvitationsPage,
  InvitationStatus,
  LetterPreview,
  MessageBody,
  Reminded,
} from '#console/invitations/shapes.ts';
import { get, post, query } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { formPath, type LocatedForm } from '../shell/form-place.ts';

export type FormPlace = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** Rows of a page of the list. */
export const rowsOfPage = 50;

/** How often a list is read again while invitations are made or mailed. */
const pollMs = 1_500;

/** Where the client finds a form's invitations. */
export const invitationsPath = (form: FormPlace): string => `${formPath(form)}/invitations`;

const key = (form: FormPlace, ...rest: readonly unknown[]) => ['invitations', form.id, ...rest];

/** Whether something of it is still on its way. */
export const isUnderWay = (batch: InvitationsOverview['batches'][number]): boolean =>
  batch.created + batch.skipped < batch.total || batch.waiting > 0;

export const overviewQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'overview'),
    queryFn: () => get<InvitationsOverview>(`${invitationsPath(form)}/overview`),
    refetchInterval: (found) => (found.state.data?.batches.some(isUnderWay) ? pollMs : false),
  });

/** Which part of the list is shown. */
export type ListView = { q: string; status: InvitationStatus | undefined; page: number };

/** @param counts of the overview: where they have changed, so has the list. */
export const listQuery = (form: FormPlace, view: ListView, counts: InvitationsOverview['counts']) =>
  queryOptions({
    queryKey: key(form, 'list', view, counts),
    queryFn: ({ signal }) =>
      get<InvitationsPage>(`${invitationsPath(form)}${query({ ...view, per_page: rowsOfPage })}`, { signal }),
    placeholderData: keepPreviousData,
  });

export const previewQuery = (form: FormPlace, source: ImportSource) =>
  queryOptions({
    queryKey: key(form, 'preview', source),
    queryFn: ({ signal }) =>
      post<ImportPreview>(`${invitationsPath(form)}/imports/preview`, { source }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
    // What is known of addresses changes: another visit asks again.
    gcTime: 0,
  });

/** The person that a preview of the mail is written to. */
export type Addressee = { email: string; name: string; reference: Record<string, string> };

export const letterQuery = (form: FormPlace, message: MessageBody, person: Addressee) =>
  queryOptions({
    queryKey: key(form, 'letter', message, person),
    queryFn: ({ signal }) =>
      post<LetterPreview>(`${invitationsPath(form)}/letter`, { ...message, ...person }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });

/** After a change: the list and what stands above it. */
export const refreshInvitations = (form: FormPlace): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: key(form) });

export async function startImport(
  form: FormPlace,
  source: ImportSource,
  message: MessageBody,
): Promise<ImportStarted> {
  const started = await post<ImportStarted>(`${invitationsPath(form)}/imports`, { source, ...message });
  await refreshInvitations(form);
  return started;
}

/** Mails one again, or makes its link lead nowhere. */
export async function act(form: FormPlace, id: string, what: 'resend' | 'revoke'): Promise<void> {
  await post<InvitationRow>(`${invitationsPath(form)}/${id}/${what}`);
  await refreshInvitations(form);
}

/** Reminds everybody who did not answer, and says how many. */
export async function remindAll(form: FormPlace): Promise<number> {
  const { count } = await post<Reminded>(`${invitationsPath(form)}/reminders`, {});
  await refreshInvitations(form);
  return count;
}
