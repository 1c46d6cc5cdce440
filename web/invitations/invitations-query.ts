import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { readQuery } from '../api/operations.ts';
import type { LocatedForm } from '../shell/form-place.ts';

export type InvitationsOverview = ReplyOf<'getInvitationsOverview'>;
export type InvitationRow = ReplyOf<'listInvitations'>['data'][number];
export type InvitationStatus = InvitationRow['status'];
export type ImportPreview = ReplyOf<'previewInvitationImport'>;
export type ImportSource = InputOf<'previewInvitationImport'>['body'];
export type ColumnUse = ImportPreview['mapping'][number];
export type LetterPreview = ReplyOf<'previewInvitationMail'>;
export type MessageBody = Omit<InputOf<'startInvitationImport'>['body'], keyof ImportSource>;

export type FormPlace = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** Rows of a page of the list. */
const rowsOfPage = 50;

/** How often a list is read again while invitations are made or mailed. */
const pollMs = 1_500;

/** Whether something of it is still on its way. */
export const isUnderWay = (batch: InvitationsOverview['batches'][number]): boolean =>
  (batch.created + batch.skipped < batch.total && batch.failed_reason === null) || batch.waiting > 0;

export const overviewQuery = (form: FormPlace) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getInvitationsOverview', { params: { id: form.id } }),
    refetchInterval: (found) => (found.state.data?.batches.some(isUnderWay) ? pollMs : false),
  });

/** Which part of the list is shown. */
export type ListView = { q: string; status: InvitationStatus | undefined; page: number };

/** @param counts of the overview: where they have changed, so has the list. */
export const listQuery = (form: FormPlace, view: ListView, counts: InvitationsOverview['counts']) => {
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

export const previewQuery = (form: FormPlace, source: ImportSource) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'previewInvitationImport', { params: { id: form.id }, body: source }),
    placeholderData: keepPreviousData,
    retry: false,
    // What is known of addresses changes: another visit asks again.
    gcTime: 0,
  });

/** The person that a preview of the mail is written to. */
export type Addressee = { email: string; name: string; reference: Record<string, string> };

export const letterQuery = (form: FormPlace, message: MessageBody, person: Addressee) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'previewInvitationMail', {
      params: { id: form.id },
      body: { ...message, ...person },
    }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
