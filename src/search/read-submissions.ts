import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import {
  createCursorError,
  greaterId,
  lesserId,
  lowerIdBound,
  type PageRequest,
  upperIdBound,
} from '#kit/pagination.ts';
import type { RowOf } from '#kit/statement.ts';
import { bulkLimit } from '#submissions/changes/bulk.ts';
import type { ExportedSubmission } from '#submissions/export/cells.ts';
import { readViewedForm } from '#submissions/read-columns.ts';
import { isPlainFilter } from './filter/read-filter.ts';
import {
  countStatements,
  type rowColumns,
  rowPageStatements,
  submissionPageStatements,
} from './list-pages.ts';
import { findNeighbours, listViewIds, readSubmissionsById, readViewBatch } from './list-rows.ts';
import { decodeSortPosition } from './read-sort.ts';
import { findSearchPage } from './search-page.ts';
import { relevanceStatements, sortedSearchStatements } from './search-rows.ts';
import { sortedRowStatements } from './sorted-rows.ts';
import type { FormView, FoundPage, FoundSubmission, View } from './view.ts';

/*
 * The planner: it chooses the statement that finds the submissions of a view. Callers are lists and the
 * search (readSubmissions), the table of a form and its panel (planTableReads), bulk changes (readViewIds) and exports
 * (readViewSubmissions).
 *
 * | View | List, search | Table | Why the statements differ |
 * |---|---|---|---|
 * | one form, at most a status | submissionPageStatements.plain | rowPageStatements.plain | The counters have the total; a deep
 * page is read from the nearer end. |
 * | any filter, by id | submissionPageStatements | rowPageStatements of list-pages.ts | One statement for each FilterKind, as each
 * has its index. |
 * | any filter, by receipt | | rowPageStatements.received, list-rows.ts | The index submissions_received has this
 * order. |
 * | `where` over several forms | submissionPageStatements byForm | | Each form has its own condition. |
 * | by columns | | sortedRowStatements | Each match is read and its key computed, for at most 200,000. |
 * | words, by relevance | search-page.ts | relevanceStatements | A search stops at 1,000 matches; the table, exports
 * and bulk changes need all. |
 * | words, by columns | | sortedSearchStatements | Only the keys of the matches are computed. |
 */

/** A row of the table. Its JSON is not parsed yet; `place` says where a sorted list continues after it. */
export type FoundRow = RowOf<typeof rowColumns> & { place?: string | null };

type Rows = readonly { id: string | null; total: number }[];

/**
 * Returns the page read by a statement that always gives at least one row with the total. @throws ApiError
 * not_found if there is none: the form was deleted.
 */
function pageOf<Row extends { id: string }>(rows: Rows, total = rows[0]?.total): FoundPage<Row> {
  if (total === undefined) throw new ApiError('not_found');
  const all: readonly { id: string | null }[] = rows;
  return { rows: all.filter(({ id }) => id !== null) as Row[], total };
}

/** The parameters that statements without words share. */
const parametersOf = ({ workspace_id, form_ids, filter }: View) => ({ workspace_id, form_ids, ...filter });

/** Returns the part of a filtered view that a page or a cursor requests. */
function partOf(view: View, { limit, offset, ...cut }: PageRequest) {
  const { from_id, to_id } = view.filter;
  const left =
    view.order === 'oldest'
      ? { from_id: greaterId(from_id, lowerIdBound(cut)) }
      : { to_id: lesserId(to_id, upperIdBound(cut)) };
  return { ...parametersOf(view), ...left, limit, offset };
}

async function countAll(database: Database, view: View): Promise<number> {
  const { filter, conditions, order } = view;
  const parameters = parametersOf(view);
  const [counted] = conditions
    ? await countStatements.byForm(database, { ...parameters, ...conditions })
    : isPlainFilter(filter)
      ? await countStatements.byCounters(database, parameters)
      : await countStatements[order === 'received' ? 'byReceived' : 'byId'][filter.kind](
          database,
          parameters,
        );
  return counted!.total;
}

/**
 * Whether a page has no filter except a status, and no cursor. A cursor includes its total and continues by
 * id.
 */
const isPlainPage = (view: View, cut: PageRequest): view is FormView =>
  view.form_id !== null && isPlainFilter(view.filter) && view.order === 'newest' && cut.total === undefined;

const plainPage = (
  { plain }: typeof submissionPageStatements | typeof rowPageStatements,
  database: Database,
  { workspace_id, form_id, filter: { status } }: FormView,
  { limit, offset }: PageRequest,
): Promise<Rows> => plain[status ? 'one' : 'any'](database, { workspace_id, form_id, status, limit, offset });

/**
 * Reads a page as the API returns it, by id or by relevance. The total is counted separately, once per list
 * that is read by cursor.
 * @throws ApiError not_found for a deleted form.
 */
export async function readSubmissions(
  database: Database,
  view: View,
  cut: PageRequest,
): Promise<FoundPage<FoundSubmission>> {
  const { workspace_id: workspaceId, form_id: formId, filter, conditions, question } = view;
  if (question) return findSearchPage(database, { ...view, question }, cut);
  if (isPlainPage(view, cut)) return pageOf(await plainPage(submissionPageStatements, database, view, cut));
  if (formId !== null) await readViewedForm(database, { workspaceId, formId });
  const pages = submissionPageStatements[view.order === 'oldest' ? 'oldest' : 'newest'];
  const part = partOf(view, cut);
  const [rows, total] = await Promise.all([
    conditions ? pages.byForm(database, { ...part, ...conditions }) : pages[filter.kind](database, part),
    cut.total ?? countAll(database, view),
  ]);
  return { rows, total };
}

type Neighbours = { previous_id: string | null; next_id: string | null };

type PagePart = Pick<PageRequest, 'after' | 'limit' | 'offset'>;

/** How the table of a form is read. */
type TablePlan = {
  /** @throws ApiError not_found for a deleted form; bad_request for an invalid cursor. */
  page: (cut: PageRequest) => Promise<FoundPage<FoundRow>>;
  /** The submissions above and below a given submission. */
  neighbours: (id: string) => Promise<Neighbours>;
  /** The first ids in the order of the table. */
  ids: (limit: number) => Promise<string[]>;
};

/** Plans the statements that find every match before they select a page. */
const planWhole = <Parameters extends object>(
  database: Database,
  statements: {
    page: (db: Database, values: Parameters & PagePart) => Promise<Rows>;
    neighbours: (db: Database, values: Parameters & { id: string }) => Promise<Neighbours[]>;
    ids: (db: Database, values: Parameters & { limit: number }) => Promise<{ ids: string[] }[]>;
  },
  parameters: Parameters,
  readAfter: (cut: PageRequest) => string | null = decodeSortPosition,
): TablePlan => ({
  async page(cut) {
    const { limit, offset, total } = cut;
    const part = { ...parameters, after: readAfter(cut), limit, offset };
    return pageOf(await statements.page(database, part), total);
  },
  neighbours: async (id) => (await statements.neighbours(database, { ...parameters, id }))[0]!,
  ids: async (limit) => (await statements.ids(database, { ...parameters, limit }))[0]!.ids,
});

export function planTableReads(database: Database, view: FormView): TablePlan {
  const { workspace_id, form_id, filter, question, order } = view;
  const { kind } = filter;
  const base = { ...filter, workspace_id, form_id };
  if (question) {
    const isAny = kind === 'any' && !question.isChecked;
    const words = { ...base, ...question, form_ids: [form_id], is_any: isAny };
    if (typeof order === 'object') return planWhole(database, sortedSearchStatements, { ...words, ...order });
    const isWordsAlone = question.isPlain && isAny && !filter.isDated;
    const page = isWordsAlone ? relevanceStatements.pageOfWords : relevanceStatements.page;
    return planWhole(database, { ...relevanceStatements, page }, words, refuseSearchCursor);
  }
  if (typeof order === 'object') return planWhole(database, sortedRowStatements, { ...base, ...order });
  const isReceived = order === 'received';
  return {
    async page(cut) {
      if (isPlainPage(view, cut)) return pageOf(await plainPage(rowPageStatements, database, view, cut));
      const [rows, total] = await Promise.all([
        rowPageStatements[isReceived ? 'received' : 'newest'][kind](database, partOf(view, cut)),
        cut.total ?? countAll(database, view),
      ]);
      return { rows, total };
    },
    neighbours: async (id) =>
      (await findNeighbours[isReceived ? 'received' : 'begun'][kind](database, { ...base, id }))[0]!,
    ids: async (limit) => (await listViewIds[kind](database, { ...base, limit }))[0]!.ids,
  };
}

function refuseSearchCursor({ mark }: PageRequest): null {
  if (mark === null) return null;
  throw createCursorError(
    '"cursor" and "q" can only be combined with "sort". Add "sort", or use "page" instead of "cursor".',
  );
}

/**
 * Reads every id of the table, in its order.
 * @throws ApiError validation_error for more than bulkLimit ids, because they are kept in memory.
 */
export async function readViewIds(database: Database, view: FormView): Promise<string[]> {
  const ids = await planTableReads(database, view).ids(bulkLimit + 1);
  if (ids.length <= bulkLimit) return ids;
  throw new ApiError(
    'validation_error',
    `A change or export can have at most ${bulkLimit} submissions. Narrow the filter.`,
  );
}

/** The number of rows per round trip. Other requests run in between. */
const batchSize = 500;

/**
 * Yields submissions in batches, newest first. Reads the next batch while the caller processes the last;
 * memory use is constant.
 * @param read returns the newest `limit` submissions below an id.
 * @param toId the id above the first submission.
 * @param most the maximum number in total; no limit by default.
 */
export async function* readInBatches<Row extends { id: string }>(
  read: (toId: string, limit: number) => Promise<Row[]>,
  toId: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  const readAhead = (fromId: string, left: number): Promise<Row[]> => {
    const rows = read(fromId, Math.min(left, batchSize));
    // A failure is reported when the caller reads the batch. If the caller has stopped, it is ignored.
    rows.catch(() => {});
    return rows;
  };
  let left = most;
  let coming = readAhead(toId, left);
  for (;;) {
    const rows = await coming;
    left -= rows.length;
    const isLast = rows.length < batchSize || left === 0;
    if (!isLast) coming = readAhead(rows.at(-1)!.id, left);
    yield rows;
    if (isLast) return;
  }
}

/**
 * Yields every submission of the table, in its order, in batches. The next batch is read while the caller
 * handles the last. In id order, memory use is constant. A search or a sort by columns runs once and keeps
 * the ids in memory.
 */
export async function* readViewSubmissions(
  database: Database,
  view: FormView,
): AsyncGenerator<ExportedSubmission[]> {
  const { workspace_id, form_id, filter, question, order } = view;
  if (question || typeof order === 'object') {
    const ids = await readViewIds(database, view);
    for (let at = 0; at < ids.length; at += batchSize)
      yield await readSubmissionsById(database, {
        workspace_id,
        form_id,
        ids: ids.slice(at, at + batchSize),
      });
    return;
  }
  const parameters = { ...filter, workspace_id, form_id };
  const read = (to_id: string, limit: number) =>
    readViewBatch[filter.kind](database, { ...parameters, to_id, limit });
  yield* readInBatches(read, filter.to_id);
}
