import { leastIdAt } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Page } from '#kit/pagination.ts';
import { refuseUnsearchable } from '#search/endpoints.ts';
import { searchNeighbours, searchView, searchViewIds } from '#search/view/queries.ts';
import type { ExportedSubmission } from '#submissions/export/cells.ts';
import { conditionRecords, readConditions } from '#submissions/filter/conditions.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import { findNeighbours, listView, listViewIds, readListed, readViewDown } from './queries.ts';
import { batchSize, readDown } from './read-down.ts';
import type { ViewQuery } from './shapes.ts';

/** Which submissions of a form are looked at, and in which order: newest first, or with `q` by relevance. */
export type View = {
  filter: {
    workspace_id: string;
    form_id: string;
    status: SubmissionStatus | null;
    /** Times as the ids that were made then: ids sort by time, and their index answers. */
    from_id: string;
    to_id: string;
    /** As matchesConditions reads them. */
    conditions: string;
  };
  isDated: boolean;
  isFiltered: boolean;
  q: string | undefined;
};

/** As many ids are held in memory at once: about 20 MB. */
const listedLimit = 200_000;

const [firstId, lastId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** @throws ApiError bad_request for a question that cannot be searched, and conditions that are not understood. */
export function readView(form: { workspaceId: string; formId: string }, query: ViewQuery): View {
  if (query.q !== undefined) refuseUnsearchable(query.q);
  const conditions = query.where === undefined ? [] : readConditions(query.where);
  return {
    filter: {
      workspace_id: form.workspaceId,
      form_id: form.formId,
      status: query.status ?? null,
      from_id: query.created_from === undefined ? firstId : idAt(query.created_from),
      to_id: query.created_to === undefined ? lastId : idAt(query.created_to),
      conditions: conditionRecords(conditions),
    },
    isDated: query.created_from !== undefined || query.created_to !== undefined,
    isFiltered: conditions.length > 0,
    q: query.q,
  };
}

/** Ids begin in 1970. */
const idAt = (moment: string): string => leastIdAt(new Date(Math.max(0, Date.parse(moment))));

/** A submission of a page; its JSON is not parsed yet. */
export type FoundRow = {
  id: string;
  status: SubmissionStatus;
  version: number;
  answers: string;
  reference: string;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  tags: string[];
};

/** Which statement of a question fits a view. */
const statementOf = ({ filter, isFiltered }: View): 'any' | 'one' | 'filtered' =>
  isFiltered ? 'filtered' : filter.status ? 'one' : 'any';

/** One page, and the exact number of all. */
export async function readViewPage(database: Database, view: View, page: Page) {
  const { filter, isDated, q } = view;
  const cut = { limit: page.perPage, offset: page.offset };
  const list = listView[statementOf(view)];
  const rows =
    q === undefined
      ? await list(database, { ...filter, is_dated: isDated, ...cut })
      : await searchView(database, { ...filter, q, ...cut });
  const found = rows.filter((row) => row.id !== null);
  return { rows: found as FoundRow[], total: rows[0]!.total };
}

/** What stands above and below a submission in the view. */
export async function readNeighbours(database: Database, view: View, id: string) {
  const { filter, q } = view;
  const find = findNeighbours[statementOf(view)];
  const [found] =
    q === undefined
      ? await find(database, { ...filter, id })
      : await searchNeighbours(database, { ...filter, q, id });
  return found!;
}

/**
 * Every id, in order.
 * @throws ApiError validation_error for more than listedLimit.
 */
export async function readViewIds(database: Database, view: View): Promise<string[]> {
  const { filter, q } = view;
  const limit = listedLimit + 1;
  const list = listViewIds[statementOf(view)];
  const [found] =
    q === undefined
      ? await list(database, { ...filter, limit })
      : await searchViewIds(database, { ...filter, q, limit });
  if (found!.ids.length < limit) return found!.ids;
  throw new ApiError(
    'validation_error',
    `This takes at most ${listedLimit} submissions at a time. Narrow the filter.`,
  );
}

/**
 * Every submission, in order, in batches; the next one is read while the reader is at the last. Without a search memory
 * is constant; a search is asked once, and its ids are kept.
 */
export async function* readWholeView(database: Database, view: View): AsyncGenerator<ExportedSubmission[]> {
  const { workspace_id, form_id } = view.filter;
  if (view.q !== undefined) {
    const ids = await readViewIds(database, view);
    for (let at = 0; at < ids.length; at += batchSize) {
      const rows = await readListed(database, { workspace_id, form_id, ids: ids.slice(at, at + batchSize) });
      yield rows;
    }
    return;
  }
  const read = readViewDown[statementOf(view)];
  yield* readDown((to_id, limit) => read(database, { ...view.filter, to_id, limit }), view.filter.to_id);
}
