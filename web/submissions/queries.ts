import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations.ts';
import type { SummarySample } from '#submissions/shapes.ts';
import { keepRows } from '../api/keep-rows.ts';
import { call } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { startOf } from '../design/day.ts';
import { type LocatedForm, refreshForm } from '../shell/form-place.ts';
import { askedIn } from '../shell/search/asked-in.ts';
import { inTableOrder, type ViewState } from './view-state.ts';

export type FormPlace = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** How often it is looked whether there is a first answer. */
export const firstAnswerMs = 2_000;

/** Rows of a page of the table. */
export const rowsOfPage = 50;

const key = (form: FormPlace, ...rest: readonly unknown[]) => ['submissions', form.id, ...rest];

export const tableQuery = (form: FormPlace, view: ViewState) => {
  const parameters = { ...inTableOrder(view), page: view.page, per_page: rowsOfPage };
  return queryOptions({
    queryKey: key(form, 'table', parameters),
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'listFormRows', { params: { id: form.id }, query: parameters }, { signal }),
    // The rows stay while the next ones are on their way: nothing jumps.
    placeholderData: (before) => keepRows(before),
    // Whoever waits for a first answer sees it come. Later ones do not move what is being read.
    refetchInterval: ({ state }) => (state.data?.pagination.total_count === 0 ? firstAnswerMs : false),
  });
};

/** A question that finds nothing, with the nearest words that somebody wrote in place of those that nobody did; null: there are none. */
export const nearestQuery = (form: FormPlace, q = '') =>
  queryOptions({
    queryKey: key(form, 'nearest', q),
    async queryFn({ signal }) {
      const query = { q: askedIn(q), form_id: form.id, typos: true, per_page: 1 };
      const { search } = await call(form.workspace_id, 'searchSubmissions', { query }, { signal });
      const corrections = search?.corrections ?? [];
      if (corrections.length === 0) return null;
      return corrections.reduce((text, { from, to }) => text.replace(from, () => to), q);
    },
    staleTime: 60_000,
  });

/** In which language the reader wants questions and options to be called, of forms that are written in several. */
export const readerLanguage = (): string => navigator.language.slice(0, 35);

export const columnsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'columns'),
    queryFn: async () => {
      const asked = { params: { id: form.id }, query: { language: readerLanguage() } };
      return (await call(form.workspace_id, 'getFormColumns', asked)).data;
    },
    staleTime: 60_000,
  });

export const detailQuery = (form: FormPlace, id: string, view: ViewState) => {
  const filter = inTableOrder(view);
  return queryOptions({
    queryKey: key(form, 'detail', id, filter),
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'viewSubmission', { params: { id }, query: filter }, { signal }),
  });
};

export const timelineQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: key(form, 'timeline', id),
    queryFn: () => call(form.workspace_id, 'getSubmissionTimeline', { params: { id } }),
  });

export const trashQuery = (form: FormPlace, page: number) =>
  queryOptions({
    queryKey: key(form, 'trash', page),
    queryFn: ({ signal }) =>
      call(
        form.workspace_id,
        'listTrash',
        { params: { id: form.id }, query: { page, per_page: rowsOfPage } },
        { signal },
      ),
    placeholderData: keepPreviousData,
  });

/** What took seconds is not asked again with each look at the window. */
const wholeSummaryMs = 300_000;

/** @param sample `all`: answers are added up from all submissions, which takes seconds where there are many. */
export const summaryQuery = (
  form: FormPlace,
  days: { from: string | undefined; to: string | undefined },
  sample: SummarySample,
) => {
  const { from, to } = days;
  const parameters = {
    ...(from !== undefined && { created_from: startOf(from, 0) }),
    ...(to !== undefined && { created_to: startOf(to, 1) }),
    language: readerLanguage(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    sample,
  };
  return queryOptions({
    queryKey: key(form, 'summary', parameters),
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'getFormSummary', { params: { id: form.id }, query: parameters }, { signal }),
    ...(sample === 'all' && { staleTime: wholeSummaryMs }),
    placeholderData: keepPreviousData,
  });
};

/** Its days are those of the form, which may be an hour or two off from the reader's. */
export const analyticsQuery = (
  form: FormPlace,
  days: { from: string | undefined; to: string | undefined },
) => {
  const { from, to } = days;
  const query = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return queryOptions({
    queryKey: key(form, 'analytics', query),
    queryFn: ({ signal }) =>
      call(form.workspace_id, 'getFormAnalytics', { params: { id: form.id }, query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

export const notesQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: key(form, 'notes', id),
    queryFn: async () => (await call(form.workspace_id, 'listNotes', { params: { id } })).data,
  });

/** The tags of a form, from which a person chooses. */
export const tagsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'tags'),
    queryFn: async () => (await call(form.workspace_id, 'listTags', { params: { id: form.id } })).data,
    staleTime: 60_000,
  });

/** A change of many submissions that runs behind. */
export type Bulk = ReplyOf<'getBulkChange'>;

/** How often one that is under way is asked how far it is. */
const pollMs = 400;

export const bulksQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'bulks'),
    queryFn: async () => (await call(form.workspace_id, 'listBulkChanges', { params: { id: form.id } })).data,
  });

export const bulkQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: ['bulk', form.id, id],
    queryFn: () => call(form.workspace_id, 'getBulkChange', { params: { id: form.id, change: id } }),
    refetchInterval: ({ state: { data } }) => (data?.finished_at || data?.failed_reason ? false : pollMs),
  });

/** After a change of submissions: everything that shows them, and the form's count. */
export async function refreshSubmissions(form: FormPlace): Promise<void> {
  await Promise.all([queryClient.invalidateQueries({ queryKey: key(form) }), refreshForm(form.id)]);
}
