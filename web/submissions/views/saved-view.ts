import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations/operations.ts';
import { operationQuery } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { localDayOf } from '../../design/day.ts';
import { conditionsOfQuery } from '../filter/condition-draft.ts';
import type { FormLocation } from '../queries.ts';
import { type TableSettings, useTableSettings, usualSettings } from '../table/table-settings.ts';
import { toListParameters, unfilteredView, type ViewState } from '../view-state.ts';

export type SavedView = ReplyOf<'getView'>;

/** The saved views of a form, sorted by name. */
export const savedViewsQuery = (form: FormLocation) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listViews', { params: { id: form.id } }),
    select: ({ data }) => data,
    staleTime: 60_000,
  });

/**
 * Returns the part of a view that is saved. A search is saved as typed, so the days in it are in each
 * reader's time zone.
 */
export const toSavedQuery = (view: ViewState): SavedView['query'] => ({
  ...toListParameters(view),
  ...(view.q !== undefined && { q: view.q }),
});

/** Converts a saved view for the table. Its saved times become days in the reader's time zone. */
export function applySavedView({ id, query }: SavedView): Partial<ViewState> {
  const { status, q, sort, created_from, created_to, ...filters } = query;
  const { received_from: from = created_from, received_to: to = created_to } = filters;
  const lastMoment = (moment: string): Date => new Date(Date.parse(moment) - 1);
  return {
    ...unfilteredView,
    saved: id,
    status,
    q,
    sort,
    from: from === undefined ? undefined : localDayOf(new Date(from)),
    to: to === undefined ? undefined : localDayOf(lastMoment(to)),
    where: conditionsOfQuery(filters),
    open: undefined,
  };
}

/** Whether the current query differs from the saved view. */
export const differsFromSaved = (saved: SavedView, view: ViewState): boolean =>
  keyOf(toSavedQuery({ ...view, ...applySavedView(saved) })) !== keyOf(toSavedQuery(view));

const keyOf = (query: object): string =>
  JSON.stringify(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The column settings: those of the person, or those of the open saved view. */
type ViewColumns = {
  /** Undefined while loading. */
  settings: TableSettings | undefined;
  change: (change: Partial<TableSettings>) => void;
  /** Whether the columns differ from the saved view. */
  areOther: boolean;
  /** Restores the columns of a saved view, unless they were changed after `seen`. */
  forget: (id: string | undefined, seen: TableSettings) => void;
};

/** Unsaved column changes of a saved view, kept in this window only. */
const draftKey = (id: string | undefined) => ['view-columns', id];

/**
 * Returns the column settings of the view. The person's own settings are saved immediately. Those of a saved
 * view apply to all members, so changes wait until the user saves them.
 */
export function useViewColumns(form: FormLocation, savedId: string | undefined): ViewColumns {
  const [own, changeOwn] = useTableSettings(form);
  const { data: views, error } = useQuery(savedViewsQuery(form));
  const { data: draft = null } = useQuery<TableSettings | null>({
    queryKey: draftKey(savedId),
    queryFn: () => null,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const saved = views?.find(({ id }) => id === savedId)?.columns;
  if (savedId === undefined || saved === null || saved === undefined)
    return {
      // If the views cannot be loaded, show the submissions with the person's columns.
      settings: savedId !== undefined && !views && !error ? undefined : own,
      change: changeOwn,
      areOther: false,
      forget: clearDraft,
    };
  return {
    settings: draft ?? saved,
    change: (part) =>
      queryClient.setQueryData(draftKey(savedId), { ...usualSettings, ...(draft ?? saved), ...part }),
    areOther: draft !== null && JSON.stringify(draft) !== JSON.stringify({ ...usualSettings, ...saved }),
    forget: clearDraft,
  };
}

function clearDraft(id: string | undefined, seen: TableSettings): void {
  queryClient.setQueryData<TableSettings | null>(draftKey(id), (now) => (now === seen ? null : now));
}
