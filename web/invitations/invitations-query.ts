import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { operationQuery } from '../api/operations.ts';
import type { LocatedForm } from '../shell/session.ts';

export type InvitationsOverview = ReplyOf<'getInvitationsOverview'>;
export type InvitationRow = ReplyOf<'listInvitations'>['data'][number];
export type InvitationStatus = InvitationRow['status'];
export type InvitationImportPreview = ReplyOf<'previewInvitationImport'>;
export type InvitationImportInput = InputOf<'previewInvitationImport'>['body'];
export type ColumnUse = InvitationImportPreview['mapping'][number];
export type EmailPreview = ReplyOf<'previewInvitationMail'>;
export type InvitationMessageSettings = Omit<
  InputOf<'startInvitationImport'>['body'],
  keyof InvitationImportInput
>;

export type FormLocation = Pick<LocatedForm, 'workspace_id' | 'id'>;

const rowsOfPage = 50;

/** How often a list is refreshed while invitations are created or sent, in milliseconds. */
const pollMs = 1_500;

/** Whether the batch is still being created or sent. */
export const isBatchRunning = (batch: InvitationsOverview['batches'][number]): boolean =>
  (batch.created + batch.skipped < batch.total && batch.failed_reason === null) || batch.waiting > 0;

export const invitationsOverviewQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getInvitationsOverview', { params: { id: form.id } }),
    refetchInterval: (found) => (found.state.data?.batches.some(isBatchRunning) ? pollMs : false),
  });

export type InvitationListView = { q: string; status: InvitationStatus | undefined; page: number };

/** @param counts of the overview: if they change, the list is fetched again. */
export const invitationListQuery = (
  form: FormLocation,
  view: InvitationListView,
  counts: InvitationsOverview['counts'],
) => {
  const listing = operationQuery(form.workspace_id, 'listInvitations', {
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

export const importPreviewQuery = (form: FormLocation, source: InvitationImportInput) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'previewInvitationImport', {
      params: { id: form.id },
      body: source,
    }),
    placeholderData: keepPreviousData,
    retry: false,
    // Not cached, because the information about addresses changes.
    gcTime: 0,
  });

/** The person for whom the email is previewed. */
export type Addressee = { email: string; name: string; reference: Record<string, string> };

export const emailPreviewQuery = (
  form: FormLocation,
  message: InvitationMessageSettings,
  person: Addressee,
) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'previewInvitationMail', {
      params: { id: form.id },
      body: { ...message, ...person },
    }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
