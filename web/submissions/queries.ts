import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  Removal,
  Removals,
  SubmissionDetail,
  Summary,
  SummarySample,
  TableColumns,
  TablePage,
  Timeline,
  TrashPage,
} from '#console/submissions/shapes.ts';
import { get, query } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { formPath, type LocatedForm, refreshForm } from '../shell/form-place.ts';
import { filterOf, type ViewState } from './view-state.ts';

export type FormPlace = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** Rows of a page of the table. */
export const rowsOfPage = 50;

/** Where the client finds a form's submissions. */
export const submissionsPath = (form: FormPlace): string => `${formPath(form)}/submissions`;

const key = (form: FormPlace, ...rest: readonly unknown[]) => ['submissions', form.id, ...rest];

export const tableQuery = (form: FormPlace, view: ViewState) => {
  const parameters = { ...filterOf(view), page: view.page, per_page: rowsOfPage };
  return queryOptions({
    queryKey: key(form, 'table', parameters),
    queryFn: ({ signal }) => get<TablePage>(submissionsPath(form) + query(parameters), { signal }),
    // The rows stay while the next ones are on their way: nothing jumps.
    placeholderData: keepPreviousData,
  });
};

export const columnsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'columns'),
    queryFn: async () => (await get<TableColumns>(`${submissionsPath(form)}/columns`)).data,
    staleTime: 60_000,
  });

export const detailQuery = (form: FormPlace, id: string, view: ViewState) => {
  const filter = filterOf(view);
  return queryOptions({
    queryKey: key(form, 'detail', id, filter),
    queryFn: ({ signal }) =>
      get<SubmissionDetail>(`${submissionsPath(form)}/${id}${query(filter)}`, { signal }),
  });
};

export const timelineQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: key(form, 'timeline', id),
    queryFn: async () => (await get<Timeline>(`${submissionsPath(form)}/${id}/timeline`)).data,
  });

/** Where the client finds a form's trash. */
export const trashPath = (form: FormPlace): string => `${formPath(form)}/trash`;

export const trashQuery = (form: FormPlace, page: number) =>
  queryOptions({
    queryKey: key(form, 'trash', page),
    queryFn: () => get<TrashPage>(trashPath(form) + query({ page, per_page: rowsOfPage })),
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
  const filter = filterOf({ ...days, status: undefined, q: undefined, where: [] });
  const parameters = { ...filter, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone, sample };
  return queryOptions({
    queryKey: key(form, 'summary', parameters),
    queryFn: ({ signal }) => get<Summary>(`${submissionsPath(form)}/summary${query(parameters)}`, { signal }),
    ...(sample === 'all' && { staleTime: wholeSummaryMs }),
    placeholderData: keepPreviousData,
  });
};

/** How often a removal that is under way is asked how far it is. */
const pollMs = 400;

export const removalsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'removals'),
    queryFn: async () => (await get<Removals>(`${submissionsPath(form)}/removals`)).data,
  });

export const removalQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: ['removal', form.id, id],
    queryFn: () => get<Removal>(`${submissionsPath(form)}/removals/${id}`),
    refetchInterval: (found) => (found.state.data?.finished_at ? false : pollMs),
  });

/** After a change of submissions: everything that shows them, and the form's count. */
export async function refreshSubmissions(form: FormPlace): Promise<void> {
  await Promise.all([queryClient.invalidateQueries({ queryKey: key(form) }), refreshForm(form.id)]);
}
