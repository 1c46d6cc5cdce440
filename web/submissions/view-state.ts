import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { dayOf, startOf } from '../design/day.ts';
import { askedIn } from '../shell/search/found.ts';
import { askFor, type Condition, readConditions } from './filter/conditions.ts';

/** What the address says about the table: the whole view, so that it can be shared. */
export type ViewState = {
  status: 'completed' | 'incomplete' | undefined;
  /** The first and the last day, in the reader's time zone. */
  from: string | undefined;
  to: string | undefined;
  q: string | undefined;
  /** Conditions on answers; all of them hold. */
  where: readonly Condition[];
  /** Columns that order it, as the service takes them; undefined: last received first, or by relevance. */
  sort: string | undefined;
  /** The saved view that it began with. */
  saved: string | undefined;
  page: number;
  /** The submission that is open beside the table. */
  open: string | undefined;
};

export type ChangeView = (change: Partial<ViewState>, options?: { replace?: boolean }) => void;

/** The view of the address, and a way to change it. Another filter begins at its first page. */
export function useViewState(): [ViewState, ChangeView] {
  const view = readView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change: ChangeView = useCallback(
    (changed, { replace = false } = {}) => {
      const isFilter = ['status', 'from', 'to', 'q', 'where', 'sort', 'saved'].some((key) => key in changed);
      const search = (before: Record<string, unknown>) =>
        writeView({ ...readView(before), ...(isFilter && { page: 1 }), ...changed });
      void navigate({ to: '.', search, replace, resetScroll: false });
    },
    [navigate],
  );
  return [view, change];
}

/** Addresses are written by people too: what makes no sense is left out. */
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
    status: status === 'completed' || status === 'incomplete' ? status : undefined,
    from: matching('from', dayPattern),
    to: matching('to', dayPattern),
    q: text('q'),
    where: readConditions(search['where']),
    sort: matching('sort', sortPattern),
    saved: matching('saved', idPattern),
    page: Number(matching('page', /^[1-9]\d{0,8}$/) ?? 1),
    open: matching('open', idPattern),
  };
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

/** A view that nothing narrows. */
export const wholeView = {
  status: undefined,
  from: undefined,
  to: undefined,
  q: undefined,
  where: [],
} as const;

/** Whether anything narrows the view. */
export const isFiltered = ({ status, from, to, q, where }: ViewState): boolean =>
  where.length > 0 || [status, from, to, q].some((value) => value !== undefined);

/** The filter as the service takes it: days of the reader's time zone become moments. */
export function filterOf({
  status,
  from,
  to,
  q,
  where,
}: Pick<ViewState, 'status' | 'from' | 'to' | 'q' | 'where'>) {
  return {
    ...(status && { status }),
    ...(q !== undefined && { q: askedIn(q) }),
    ...(from !== undefined && { received_from: startOf(from, 0) }),
    ...(to !== undefined && { received_to: startOf(to, 1) }),
    ...askFor(where),
  };
}

/** The same in the order of the table: a search by relevance, all else by `receivedAt`, as long as nothing else is chosen. */
export const inTableOrder = (view: Omit<ViewState, 'page' | 'open' | 'saved'>) => ({
  ...orderedBy(view),
  ...(view.sort === undefined && view.q === undefined && { sort: '-$received' }),
});

/** The same with its order, for what shows submissions one after the other. */
export const orderedBy = (view: Omit<ViewState, 'page' | 'open' | 'saved'>) => ({
  ...filterOf(view),
  ...(view.sort !== undefined && { sort: view.sort }),
});

/** Today, or so many days before, as YYYY-MM-DD where the reader is. */
export const dayBefore = (days: number, now: Date = new Date()): string =>
  dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days));
