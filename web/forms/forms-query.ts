import { queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { operationQuery } from '../api/operations.ts';
import { keepPreviousRows } from '../api/query-client.ts';

export type FormActivityRow = ReplyOf<'listFormActivity'>['data'][number];
export type FormOrder = NonNullable<NonNullable<InputOf<'listFormActivity'>['query']>['sort']>;
export type FormStatus = FormActivityRow['status'];

/** The state of the list. All of it is in the URL, so that a view can be shared, and Back works. */
export type FormListView = {
  q?: string;
  status?: FormStatus;
  label?: string;
  sort?: FormOrder;
  page?: number;
};

const statuses: readonly string[] = ['draft', 'published', 'archived'] satisfies FormStatus[];
const orders: readonly string[] = ['activity', 'created', 'name', 'submissions'] satisfies FormOrder[];

/** Parses the URL parameters and ignores invalid values. */
export function parseFormListView(search: Readonly<Record<string, unknown>>): FormListView {
  const { q, status, label, sort, page } = search;
  return {
    ...((typeof q === 'string' || typeof q === 'number') && { q: String(q) }),
    ...(typeof status === 'string' && statuses.includes(status) && { status: status as FormStatus }),
    ...((typeof label === 'string' || typeof label === 'number') && { label: String(label) }),
    ...(typeof sort === 'string' && orders.includes(sort) && { sort: sort as FormOrder }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  };
}

export const formsQuery = (workspaceId: string, view: FormListView) =>
  queryOptions({
    ...operationQuery(workspaceId, 'listFormActivity', { query: { ...view, per_page: 25 } }),
    placeholderData: (before) => keepPreviousRows(before),
  });

export const labelsQuery = (workspaceId: string) =>
  queryOptions({ ...operationQuery(workspaceId, 'listLabels', {}), select: ({ data }) => data });
