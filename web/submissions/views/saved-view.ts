import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations/operations.ts';
import { readQuery } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { dayOf } from '../../design/day.ts';
import { conditionsOf } from '../filter/condition-draft.ts';
import type { FormPlace } from '../queries.ts';
import { type TableSettings, useTableSettings, usualSettings } from '../table/table-settings.ts';
import { orderedBy, type ViewState, wholeView } from '../view-state.ts';

export type SavedView = ReplyOf<'getView'>;

/** Views that the workspace has saved of a form, by their names. */
export const savedViewsQuery = (form: FormPlace) =>
  queryOptions({
    ...readQuery(form.workspace_id, 'listViews', { params: { id: form.id } }),
    select: ({ data }) => data,
    staleTime: 60_000,
  });

/** What is saved of a view. A search is kept as it is written: its days are those of whoever looks. */
export const savedQuery = (view: ViewState): SavedView['query'] => ({
  ...orderedBy(view),
  ...(view.q !== undefined && { q: view.q }),
});

/** A saved view as the table shows it. Days are those of whoever looks: of the moments that were saved. */
export function showSaved({ id, query }: SavedView): Partial<ViewState> {
  const { status, q, sort, created_from, created_to, ...asked } = query;
  const { received_from: from = created_from, received_to: to = created_to } = asked;
  const lastMoment = (moment: string): Date => new Date(Date.parse(moment) - 1);
  return {
    ...wholeView,
    saved: id,
    status,
    q,
    sort,
    from: from === undefined ? undefined : dayOf(new Date(from)),
    to: to === undefined ? undefined : dayOf(lastMoment(to)),
    where: conditionsOf(asked),
    open: undefined,
  };
}

/** Whether a view asks for something else than what is saved of it. */
export const isOtherQuery = (saved: SavedView, view: ViewState): boolean =>
  keyOf(savedQuery({ ...view, ...showSaved(saved) })) !== keyOf(savedQuery(view));

const keyOf = (query: object): string =>
  JSON.stringify(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1)));

/** How the table is arranged, of the person or of the saved view that is shown. */
type ViewColumns = {
  /** Undefined while they are on their way. */
  settings: TableSettings | undefined;
  change: (change: Partial<TableSettings>) => void;
  /** Whether they are others than those of the saved view. */
  areOther: boolean;
  /** Those of a saved view again, unless they were changed since they were `seen`. */
  forget: (id: string | undefined, seen: TableSettings) => void;
};

/** What was changed in a saved view and not saved: it stays in this window. */
const draftKey = (id: string | undefined) => ['view-columns', id];

/** A person's own arrangement is theirs, and that of a saved view everybody's: what is changed there waits to be saved. */
export function useViewColumns(form: FormPlace, savedId: string | undefined): ViewColumns {
  const [own, changeOwn] = useTableSettings(form);
  const { data: views } = useQuery(savedViewsQuery(form));
  const { data: draft = null } = useQuery<TableSettings | null>({
    queryKey: draftKey(savedId),
    queryFn: () => null,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const saved = views?.find(({ id }) => id === savedId)?.columns;
  if (savedId === undefined || saved === null || saved === undefined)
    return {
      settings: savedId !== undefined && !views ? undefined : own,
      change: changeOwn,
      areOther: false,
      forget,
    };
  return {
    settings: draft ?? saved,
    change: (part) =>
      queryClient.setQueryData(draftKey(savedId), { ...usualSettings, ...(draft ?? saved), ...part }),
    areOther: draft !== null && JSON.stringify(draft) !== JSON.stringify({ ...usualSettings, ...saved }),
    forget,
  };
}

function forget(id: string | undefined, seen: TableSettings): void {
  queryClient.setQueryData<TableSettings | null>(draftKey(id), (now) => (now === seen ? null : now));
}
