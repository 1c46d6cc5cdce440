import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { formatCount } from '#ast/basics/format-number.ts';
import type { Settings } from '#ast/settings.ts';
import { assignmentColumns } from '#rules/columns.ts';
import type { SummarySample } from '#submissions/shapes.ts';
import { operationQuery } from '../api/operations.ts';
import { keepPreviousRows } from '../api/query-client.ts';
import { membersQuery, stagesQuery } from '../settings/workspace.ts';
import { toServerSearch } from '../shell/search/search-results.ts';
import { type LocatedForm, useSession } from '../shell/session.ts';
import { goneLabels } from './filter/conditions.ts';
import { toFilterParameters, toTableParameters, type ViewState } from './view-state.ts';

export type FormLocation = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** How often the table checks for the first submission, in milliseconds. */
export const firstSubmissionPollMs = 2_000;

const rowsOfPage = 50;

export const tableQuery = (form: FormLocation, view: ViewState) => {
  const parameters = { ...toTableParameters(view), page: view.page, per_page: rowsOfPage };
  return queryOptions({
    ...operationQuery(form.workspace_id, 'listFormRows', { params: { id: form.id }, query: parameters }),
    // Keeps the rows while the next ones load, so that the page does not jump.
    placeholderData: (before) => keepPreviousRows(before),
    // The first submission appears by itself. Later ones do not move rows that are being read.
    refetchInterval: ({ state }) =>
      state.data?.pagination.total_count === 0 ? firstSubmissionPollMs : false,
  });
};

/**
 * For a search without results, queries the search with misspelled words corrected, or null if there are no
 * corrections.
 */
export const correctedSearchQuery = (form: FormLocation, q = '') =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'searchSubmissions', {
      query: { q: toServerSearch(q), form_id: form.id, typos: true, per_page: 1 },
    }),
    select({ search }) {
      const corrections = search?.corrections ?? [];
      if (corrections.length === 0) return null;
      return corrections.reduce((text, { from, to }) => text.replace(from, () => to), q);
    },
    staleTime: 60_000,
  });

/**
 * Returns the language in which the reader wants labels of multilingual forms, or nothing if the browser
 * reports a tag that the API refuses: WebKit reports `c` if the system has no language.
 */
export function readerLanguage(): { language?: string } {
  const { language } = navigator;
  return language.length <= 35 && /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i.test(language) ? { language } : {};
}

export const columnsQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getFormColumns', {
      params: { id: form.id },
      query: readerLanguage(),
    }),
    select: ({ data }) => data,
    staleTime: 60_000,
  });

export const detailQuery = (form: FormLocation, id: string, view: ViewState) =>
  queryOptions(
    operationQuery(form.workspace_id, 'viewSubmission', { params: { id }, query: toTableParameters(view) }),
  );

export const settingsQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getForm', { params: { id: form.id } }),
    // It was validated when it was saved.
    select: ({ settings }) => settings as Settings,
    staleTime: 60_000,
  });

export const timelineQuery = (form: FormLocation, id: string) =>
  queryOptions(operationQuery(form.workspace_id, 'getSubmissionTimeline', { params: { id } }));

export const trashQuery = (form: FormLocation, page: number) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listTrash', {
      params: { id: form.id },
      query: { page, per_page: rowsOfPage },
    }),
    placeholderData: keepPreviousData,
  });

/** A summary takes seconds to compute, so it is not fetched again whenever the window gets the focus. */
const wholeSummaryMs = 300_000;

/**
 * @param sample `all`: includes all submissions, which takes seconds for large forms.
 * @param compare the conditions of two groups, as JSON.
 */
export const summaryQuery = (
  form: FormLocation,
  view: ViewState,
  { sample, compare }: { sample: SummarySample; compare: string | undefined },
) => {
  const parameters = {
    ...toFilterParameters(view),
    ...readerLanguage(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    sample,
    ...(compare !== undefined && { compare }),
  };
  return queryOptions({
    ...operationQuery(form.workspace_id, 'getFormSummary', { params: { id: form.id }, query: parameters }),
    ...(sample === 'all' && { staleTime: wholeSummaryMs }),
    placeholderData: keepPreviousData,
  });
};

/** Days are in the form's time zone, which can differ from the reader's. */
export const analyticsQuery = (
  form: FormLocation,
  days: { from: string | undefined; to: string | undefined },
) => {
  const { from, to } = days;
  const query = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return queryOptions({
    ...operationQuery(form.workspace_id, 'getFormAnalytics', { params: { id: form.id }, query }),
    placeholderData: keepPreviousData,
  });
};

export const notesQuery = (form: FormLocation, id: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listNotes', { params: { id } }),
    select: ({ data }) => data,
  });

/** Queries the tags of a form, as suggestions. */
export const tagsQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listTags', { params: { id: form.id } }),
    select: ({ data }) => data.map(({ tag }) => tag),
    staleTime: 60_000,
  });

/** A bulk change, which runs in the background. */
export type BulkChangeReply = ReplyOf<'getBulkChange'>;

/** How often a running bulk change is polled, in milliseconds. */
const pollMs = 400;

export const bulkChangesQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listBulkChanges', { params: { id: form.id } }),
    select: ({ data }) => data,
  });

export const bulkChangeQuery = (form: FormLocation, id: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'getBulkChange', { params: { id: form.id, change: id } }),
    refetchInterval: ({ state: { data } }) => (data?.finished_at || data?.failed_reason ? false : pollMs),
  });

/** Formats a count: "1 submission", "1,204 submissions". */
export const formatSubmissionCount = (count: number): string => formatCount(count, 'submission');

const spamListQuery = (form: FormLocation, query: { page?: number; per_page: number }) =>
  operationQuery(form.workspace_id, 'listSpam', { params: { id: form.id }, query });

export const spamQuery = (form: FormLocation, page: number) =>
  queryOptions({ ...spamListQuery(form, { page, per_page: rowsOfPage }), placeholderData: keepPreviousData });

/** The number of spam submissions, shown on the link to them. */
export const spamCountQuery = (form: FormLocation) =>
  queryOptions({
    ...spamListQuery(form, { per_page: 1 }),
    select: ({ pagination }) => pagination.total_count,
  });

export const spamDetailQuery = (form: FormLocation, id: string) =>
  queryOptions(operationQuery(form.workspace_id, 'getSpam', { params: { id: form.id, held: id } }));

type Named = { id: string; label: string; description?: string };

/** The stages of a workspace, and the members to whom submissions can be assigned. */
export type Team = { stages: ReplyOf<'listStages'>['data']; members: readonly Named[]; error?: Error };

const nothing: Team = { stages: [], members: [] };

/** Returns the stages and members, the signed-in person first; empty until they are loaded. */
export function useTeam({ workspace_id }: Pick<FormLocation, 'workspace_id'>): Team {
  const { data: stages, error: unread } = useQuery(stagesQuery(workspace_id));
  const { data: members, error: missing } = useQuery({ ...membersQuery(workspace_id), staleTime: 60_000 });
  const error = unread ?? missing;
  const { user } = useSession();
  return useMemo(() => {
    if (!stages || !members) return error ? { ...nothing, error } : nothing;
    const others = members.filter(({ id }) => id !== user.id);
    const own = members.filter(({ id }) => id === user.id);
    const times = Map.groupBy(members, ({ name }) => name);
    const toNamed = ({ name, email, id }: (typeof members)[number]): Named => ({
      id,
      label: id === user.id ? `${name} (you)` : name,
      // Two members can have the same name.
      ...(times.get(name)!.length > 1 && { description: email }),
    });
    return { stages: stages.data, members: [...own, ...others].map(toNamed) };
  }, [stages, members, error, user.id]);
}

/** Returns the label of a stage or a member by the column and the id. */
export function describeAssignment(id: string, column: string, { stages, members, error }: Team): string {
  // They are not loaded: every workspace has a stage.
  if (stages.length === 0) return error ? 'Unknown' : '…';
  const known =
    column === assignmentColumns.stage
      ? stages.find((stage) => stage.id === id)?.name
      : members.find((member) => member.id === id)?.label;
  return known ?? goneLabels[column] ?? id;
}
