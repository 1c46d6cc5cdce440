import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { readQuery } from '../api/operations.ts';
import type { LocatedForm } from '../shell/current-form.ts';

export type InvitationsOverview = ReplyOf<'getInvitationsOverview'>;
export type InvitationRow = ReplyOf<'listInvitations'>['data'][number];
export type InvitationStatus = InvitationRow['status'];
export type ImportPreview = ReplyOf<'previewInvitationImport'>;
export type ImportSource = InputOf<'previewInvitationImport'>['body'];
export type ColumnUse = ImportPreview['mapping'][number];
export type EmailPreview = ReplyOf<'previewInvitationMail'>;
export type MessageBody = Omit<InputOf<'startInvitationImport'>['body'], keyof ImportSource>;

export type FormLocation = Pick<LocatedForm, 'workspace_id' | 'id'>;

const rowsOfPage = 50;

/** How often a list is refreshed while invitations are created or sent, in milliseconds. */
const pollMs = 1_500;

/** Whether the batch is still being created or sent. */
export const isUnderWay = (batch: InvitationsOverview['batches'][number]): boolean =>
  (batch.created + batch.skipped < batch.total && batch.failed_reason === null) || batch.waiting > 0;

export const overviewQuery = (form: FormLocation) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getInvitationsOverview', { params: { id: form.id } }),
    refetchInterval: (found) => (found.state.data?.batches.some(isUnderWay) ? pollMs : false),
  });

export type ListView = { q: string; status: InvitationStatus | undefined; page: number };

/** @param counts of the overview: if they change, the list is fetched again. */
export const listQuery = (form: FormLocation, view: ListView, counts: InvitationsOverview['counts']) => {
  const listing = readQuery(form.workspace_id, 'listInvitations', {
    params: { id: form.id },
    query: {
      page: view.page,
      per_page: rowsOfPage,
      ...(view.q !== '' && { q: view.q }),
      ...(view.status && { status: view.status }),
    },
  });
  return queryOptions({
    ...listing,
    queryKey: [...listing.queryKey, counts],
    placeholderData: keepPreviousData,
  });
};

export const previewQuery = (form: FormLocation, source: ImportSource) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'previewInvitationImport', { params: { id: form.id }, body: source }),
    placeholderData: keepPreviousData,
    retry: false,
    // Not cached, because the information about addresses changes.
    gcTime: 0,
  });

/** The person for whom the email is previewed. */
export type Addressee = { email: string; name: string; reference: Record<string, string> };

export const emailPreviewQuery = (form: FormLocation, message: MessageBody, person: Addressee) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'previewInvitationMail', {
      params: { id: form.id },
      body: { ...message, ...person },
    }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
