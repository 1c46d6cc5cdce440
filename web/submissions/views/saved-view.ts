import { queryOptions } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { dayOf } from '../../design/day.ts';
import { conditionsOf } from '../filter/read-asked.ts';
import type { FormPlace } from '../queries.ts';
import { orderedBy, type ViewState, wholeView } from '../view-state.ts';

export type SavedView = ReplyOf<'getView'>;

/** Views that the workspace has saved of a form, by their names. */
export const savedViewsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: ['saved-views', form.id],
    queryFn: async () => (await call(form.workspace_id, 'listViews', { params: { id: form.id } })).data,
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
