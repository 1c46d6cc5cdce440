import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { isRecord } from '#ast/basics/json.ts';
import type { TableRow } from '#submissions/shapes.ts';
import { localDayOf, startOfLocalDay } from '../design/day.ts';
import { toServerSearch } from '../shell/search/search-results.ts';
import { type FilterCondition, parseFilterConditions, toApiParameters } from './filter/conditions.ts';

/** The statuses of submissions, with their labels. */
export const statusLabels = {
  completed: 'Completed',
  incomplete: 'Incomplete',
  waiting: 'Waiting',
} as const satisfies Record<TableRow['status'], string>;
export type SubmissionStatus = keyof typeof statusLabels;

/** The state of the table. All of it is in the URL, so that the view can be shared. */
export type ViewState = {
  status: SubmissionStatus | undefined;
  /** The first and last day, in the reader's time zone. */
  from: string | undefined;
  to: string | undefined;
  q: string | undefined;
  /** Conditions on answers. All of them must be met. */
  where: readonly FilterCondition[];
  /** The sort columns in the format of the API; undefined: last received first, or by relevance. */
  sort: string | undefined;
  /** The saved view that the current view is based on. */
  saved: string | undefined;
  page: number;
  /** The submission that is open next to the table. */
  open: string | undefined;
  /** In the summary: the question and its two answers that are compared. */
  compare: ComparedAnswers | undefined;
};

export type ComparedAnswers = { name: string; values: readonly [string, string] };

export type ChangeView = (change: Partial<ViewState>, options?: { replace?: boolean }) => void;

/** Returns the view in the URL and a function to change it. A changed filter starts at the first page. */
export function useViewState(): [ViewState, ChangeView] {
  const view = readView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change: ChangeView = useCallback(
    (changed, { replace = false } = {}) => {
      const isFilter = ['status', 'from', 'to', 'q', 'where', 'sort', 'saved'].some((key) => key in changed);
      const search = (before: Record<string, unknown>) =>
        searchOf(before, { ...(isFilter && { page: 1 }), ...changed });
      void navigate({ to: '.', search, replace, resetScroll: false });
    },
    [navigate],
  );
  return [view, change];
}

/** Returns the parameters of the URL after a change of the view. */
export const searchOf = (before: Record<string, unknown>, changed: Partial<ViewState>) =>
  writeView({ ...readView(before), ...changed });

/** Parses the URL and ignores invalid values, because people may edit URLs. */
function readView(search: Readonly<Record<string, unknown>>): ViewState {
  const text = (key: string): string | undefined => {
    const value = search[key];
    const given = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    return given === '' ? undefined : given;
  };
  const matching = (key: string, pattern: RegExp): string | undefined => {
    const value = text(key);
    return value !== undefined && pattern.test(value) ? value : undefined;
  };
  const status = text('status');
  return {
    status:
      status !== undefined && Object.hasOwn(statusLabels, status) ? (status as SubmissionStatus) : undefined,
    from: matching('from', dayPattern),
    to: matching('to', dayPattern),
    q: text('q'),
    where: parseFilterConditions(search['where']),
    sort: matching('sort', sortPattern),
    saved: matching('saved', idPattern),
    page: Number(matching('page', /^[1-9]\d{0,8}$/) ?? 1),
    open: matching('open', idPattern),
    compare: parseCompared(search['compare']),
  };
}

function parseCompared(given: unknown): ComparedAnswers | undefined {
  if (!isRecord(given)) return undefined;
  const { name, values } = given;
  const [first, other, ...more]: readonly unknown[] = Array.isArray(values) ? values : [];
  return typeof name === 'string' &&
    typeof first === 'string' &&
    typeof other === 'string' &&
    first !== other &&
    more.length === 0
    ? { name, values: [first, other] }
    : undefined;
}

const idPattern = /^[0-9a-f-]{36}$/i;
const sortPattern = /^-?[^\s,-][^\s,]*(,-?[^\s,-][^\s,]*)?$/u;
const dayPattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

function writeView({ page, where, ...view }: ViewState): Record<string, unknown> {
  const set = Object.entries({
    ...view,
    where: where.length > 0 ? where : undefined,
    page: page > 1 ? page : undefined,
  });
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}

/** A view without filters. */
export const unfilteredView = {
  status: undefined,
  from: undefined,
  to: undefined,
  q: undefined,
  where: [],
} as const;

/** Whether the view has filters. */
export const isViewFiltered = ({ status, from, to, q, where }: ViewState): boolean =>
  where.length > 0 || [status, from, to, q].some((value) => value !== undefined);

/** Converts the filter to the format of the API: days in the reader's time zone become timestamps. */
export function toFilterParameters({
  status,
  from,
  to,
  q,
  where,
}: Pick<ViewState, 'status' | 'from' | 'to' | 'q' | 'where'>) {
  return {
    ...(status && { status }),
    ...(q !== undefined && { q: toServerSearch(q) }),
    ...(from !== undefined && { received_from: startOfLocalDay(from, 0) }),
    ...(to !== undefined && { received_to: startOfLocalDay(to, 1) }),
    ...toApiParameters(where),
  };
}

/** Adds the default order of the table: by relevance for a search, otherwise by `receivedAt`. */
export const toTableParameters = (view: Omit<ViewState, 'page' | 'open' | 'saved' | 'compare'>) => ({
  ...toListParameters(view),
  ...(view.sort === undefined && view.q === undefined && { sort: '-$received' }),
});

/** Adds the sort order to the filter, for lists of submissions. */
export const toListParameters = (view: Omit<ViewState, 'page' | 'open' | 'saved' | 'compare'>) => ({
  ...toFilterParameters(view),
  ...(view.sort !== undefined && { sort: view.sort }),
});

/** Returns today or an earlier day as YYYY-MM-DD in the reader's time zone. */
export const dateDaysAgo = (days: number, now: Date = new Date()): string =>
  localDayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days));
