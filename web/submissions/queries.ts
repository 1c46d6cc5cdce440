import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations/operations.ts';
import { sayCount } from '#ast/basics/say-count.ts';
import type { SummarySample } from '#submissions/shapes.ts';
import { keepRows } from '../api/keep-rows.ts';
import { readQuery } from '../api/operations.ts';
import { startOf } from '../design/day.ts';
import type { LocatedForm } from '../shell/form-place.ts';
import { askedIn } from '../shell/search/found.ts';
import { inTableOrder, type ViewState } from './view-state.ts';

export type FormPlace = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** How often it is looked whether there is a first answer. */
export const firstAnswerMs = 2_000;

/** Rows of a page of the table. */
const rowsOfPage = 50;

export const tableQuery = (form: FormPlace, view: ViewState) => {
  const parameters = { ...inTableOrder(view), page: view.page, per_page: rowsOfPage };
  return queryOptions({
    ...readQuery(form.workspace_id, 'listFormRows', { params: { id: form.id }, query: parameters }),
    // The rows stay while the next ones are on their way: nothing jumps.
    placeholderData: (before) => keepRows(before),
    // Whoever waits for a first answer sees it come. Later ones do not move what is being read.
    refetchInterval: ({ state }) => (state.data?.pagination.total_count === 0 ? firstAnswerMs : false),
  });
};

/** A question that finds nothing, with the nearest words that somebody wrote in place of those that nobody did; null: there are none. */
export const nearestQuery = (form: FormPlace, q = '') =>
  queryOptions({
    ...readQuery(form.workspace_id, 'searchSubmissions', {
      query: { q: askedIn(q), form_id: form.id, typos: true, per_page: 1 },
    }),
    select({ search }) {
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
    ...readQuery(form.workspace_id, 'getFormColumns', {
      params: { id: form.id },
      query: { language: readerLanguage() },
    }),
    select: ({ data }) => data,
    staleTime: 60_000,
  });

export const detailQuery = (form: FormPlace, id: string, view: ViewState) =>
  queryOptions(readQuery(form.workspace_id, 'viewSubmission', { params: { id }, query: inTableOrder(view) }));

export const timelineQuery = (form: FormPlace, id: string) =>
  queryOptions(readQuery(form.workspace_id, 'getSubmissionTimeline', { params: { id } }));

export const trashQuery = (form: FormPlace, page: number) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listTrash', {
      params: { id: form.id },
      query: { page, per_page: rowsOfPage },
    }),
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
    ...readQuery(form.workspace_id, 'getFormSummary', { params: { id: form.id }, query: parameters }),
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
    ...readQuery(form.workspace_id, 'getFormAnalytics', { params: { id: form.id }, query }),
    placeholderData: keepPreviousData,
  });
};

export const notesQuery = (form: FormPlace, id: string) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listNotes', { params: { id } }),
    select: ({ data }) => data,
  });

/** The tags of a form, from which a person chooses. */
export const tagsQuery = (form: FormPlace) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listTags', { params: { id: form.id } }),
    select: ({ data }) => data,
    staleTime: 60_000,
  });

/** A change of many submissions that runs behind. */
export type Bulk = ReplyOf<'getBulkChange'>;

/** How often one that is under way is asked how far it is. */
const pollMs = 400;

export const bulksQuery = (form: FormPlace) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listBulkChanges', { params: { id: form.id } }),
    select: ({ data }) => data,
  });

export const bulkQuery = (form: FormPlace, id: string) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'getBulkChange', { params: { id: form.id, change: id } }),
    refetchInterval: ({ state: { data } }) => (data?.finished_at || data?.failed_reason ? false : pollMs),
  });

/** "1 submission", "1,204 submissions". */
export const saySubmissions = (count: number): string => sayCount(count, 'submission');

const list = (form: FormPlace, query: { page?: number; per_page: number }) =>
  readQuery(form.workspace_id, 'listSpam', { params: { id: form.id }, query });

export const spamQuery = (form: FormPlace, page: number) =>
  queryOptions({
    ...list(form, { page, per_page: rowsOfPage }),
    placeholderData: keepPreviousData,
  });

/** How much is held, which the way to the spam box says. */
export const spamCountQuery = (form: FormPlace) =>
  queryOptions({
    ...list(form, { per_page: 1 }),
    select: ({ pagination }) => pagination.total_count,
  });

export const heldQuery = (form: FormPlace, id: string) =>
  queryOptions(readQuery(form.workspace_id, 'getSpam', { params: { id: form.id, held: id } }));
