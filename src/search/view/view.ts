import { readShortReference, shortReference } from '#ast/short-reference.ts';
import { leastIdAt } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { belowId, type Cut, firstId, idBehind, lastId, refuseCursor } from '#kit/pagination.ts';
import { columns, nullable, statement, word } from '#kit/statement.ts';
import type { ExportedSubmission } from '#submissions/export/cells.ts';
import { type Filter, isPlain, readFormFilter } from '#submissions/filter/read-filter.ts';
import { countSpan } from '#submissions/filter/read-where.ts';
import { filterColumns, isMet } from '#submissions/filter/where-of-forms.ts';
import { batchSize, readDown } from '#submissions/read-down.ts';
import type { ViewQuery } from '#submissions/shapes.ts';
import { limitSorted, readPlace, readSort, type Sort } from '#submissions/sort/read-sort.ts';
import { mostSorted } from '#submissions/sort/sortable.ts';
import { sortedFrom, sortedView } from '#submissions/sort/sorted-sql.ts';
import type { SubmissionStatus } from '#submissions/submission-rows.ts';
import {
  findNeighbours,
  listView,
  listViewIds,
  readListed,
  readViewDown,
  type ViewOrder,
} from '#submissions/table.ts';
import { checking, checkParameters, isPassed } from '../ask.ts';
import {
  asking,
  askingWords,
  questionParameters,
  walk,
  wordParameters,
  wordsInSubject,
} from '../question.ts';
import { type Reached, readAsked } from '../read-asked.ts';

/** Selects the submissions of a form that were created within a range of milliseconds. */
const findIdsBetween = statement(
  'find_ids_between',
  'workspace_id form_id from_id to_id',
  'id',
  `select id from submissions
   where workspace_id = $workspace_id and form_id = $form_id and id >= $from_id and id < $to_id
     and trashed_at is null`,
);

/*
 * A view is a search in one form, combined with the filters of the console. It uses the same query and order,
 * but has every match, because views are also deleted and exported. Times are converted to ids created at
 * that time.
 */
const viewParameters = columns('is_any:boolean', questionParameters, checkParameters, filterColumns);

const matches = `
  f as materialized (
    select d.submission_id as id, segments.code from question cross join segments
    join search_documents d on d.workspace_id = $workspace_id
      and d.terms @@ replace(question.anywhere, chr(1), segments.code)::tsquery)`;

const viewed = `${asking},
  ${checking},
  ${matches},
  viewed as (
    select f.id, ${wordsInSubject} as rank from f
    where f.id >= $from_id and f.id < $to_id
      and ($is_any or exists (
        select from submissions p where p.workspace_id = $workspace_id and p.id = f.id and ${isMet} and ${isPassed})))`;

/** For queries of words alone, without a filter. */
const viewedOfWords = `${askingWords},
  ${matches},
  viewed as (select f.id, ${wordsInSubject} as rank from f)`;

/** Counts the submissions with the words of a query, up to `most`: each of them is checked separately. */
const countLooks = statement(
  'count_looks',
  ['most', questionParameters],
  'count',
  `with ${asking}
   select count(*) as count from (${walk('anywhere', { limit: '$most', inOrder: false })}) found`,
);

/** Selects one page of a searched view with the exact total in each row. Returns at least one row. */
const pageOf = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  viewed: string,
) =>
  statement(
    name,
    ['limit offset', parameters],
    [
      'total id? version? answers:text? reference:text? created_at? updated_at? completed_at?',
      'tags?',
      { status: nullable(word<SubmissionStatus>()) },
    ],
    `with ${viewed},
   page as (select id, rank from viewed order by rank desc, id desc limit $limit offset $offset)
   select count.total, s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
          s.created_at, s.updated_at, s.completed_at, s.tags
   from (select count(*) as total from viewed) count
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   order by page.rank desc, page.id desc`,
  );

const searchView = pageOf('search_view', viewParameters, viewed);

const searchViewOfWords = pageOf('search_view_of_words', wordParameters, viewedOfWords);

/**
 * Selects the submissions before and after a submission in a searched view; none if it is not in the view.
 */
const searchNeighbours = statement(
  'search_neighbours',
  ['id', viewParameters],
  'previous_id? next_id?',
  `with ${viewed},
   here as (select id, rank from viewed where id = $id)
   select (select v.id from viewed v, here where (v.rank, v.id) > (here.rank, here.id) order by v.rank, v.id limit 1) as previous_id,
          (select v.id from viewed v, here where (v.rank, v.id) < (here.rank, here.id) order by v.rank desc, v.id desc limit 1) as next_id`,
);

/** Sorts a searched view by columns instead of relevance. */
const sortedSearch = sortedFrom('search_view_sorted', viewParameters, {
  before: `${viewed},`,
  from: (keys) =>
    `viewed join submissions p on p.workspace_id = $workspace_id and p.id = viewed.id and p.trashed_at is null ${keys}`,
});

/** Selects every id of a searched view in order, up to one more than the limit. */
const searchViewIds = statement(
  'search_view_ids',
  ['limit', viewParameters],
  'ids',
  `with ${viewed}
   select coalesce(array_agg(id order by rank desc, id desc), '{}') as ids
   from (select id, rank from viewed order by rank desc, id desc limit $limit) page`,
);

/** The submissions of a form to read, and their order: newest first, or by relevance for a search. */
type View = {
  /** The filter as parameters of the statements. */
  filter: Filter & { workspace_id: string; form_id: string; is_any: boolean };
  /** The query for the word index; undefined if the index is not needed. */
  asked: Question | undefined;
  /** The columns to sort by; undefined to sort by `order` or relevance. */
  sort: Sort | undefined;
  order: ViewOrder;
};
type Question = Reached['index'] &
  Reached['checks'] & { workspace_id: string; form_ids: string[]; is_open: boolean; isPlain: boolean };

/** The maximum number of ids in memory: about 20 MB. */
const listedLimit = 200_000;

/** The maximum number of submissions to check one by one, which takes about a second. */
const mostLooks = 50_000;

/**
 * Reads the parameters of a view. If `q` is the short reference of a submission, the view has only that
 * submission. Operators of the query are added to the filter.
 * @param isPart whether only a page, or the neighbors of one submission, are read.
 * @throws ApiError bad_request for an invalid query or condition, for columns that cannot be sorted by, and
 * for too many submissions to sort.
 */
export async function readView(
  database: Database,
  form: { workspaceId: string; formId: string },
  { sort: sortedBy, ...query }: ViewQuery,
  { isPart = false } = {},
): Promise<View> {
  // An index has this order, so only the requested part is read.
  const isReceived = isPart && sortedBy === '-$received' && query.q === undefined;
  const [meant, sort] = await Promise.all([
    readMeant(database, form, query),
    // A search is sorted by relevance; newest first must be requested.
    isReceived ? undefined : readSort(database, form, sortedBy, { isUsual: query.q === undefined }),
  ]);
  if (sort) limitSorted(await countMeant(database, meant, mostSorted + 1));
  return { ...meant, sort, order: isReceived ? 'received' : 'begun' };
}

/** Counts the submissions that a sorted view must read, up to a limit. */
async function countMeant(database: Database, { filter, asked }: Meant, most: number): Promise<number> {
  const { form_id } = filter;
  const [counted] = asked
    ? await countLooks(database, { ...filter, ...asked, most })
    : await countSpan(database, { ...filter, form_ids: [form_id], most });
  return counted!.count;
}

type Meant = Omit<View, 'sort' | 'order'>;

async function readMeant(
  database: Database,
  form: { workspaceId: string; formId: string },
  { q, ...query }: Omit<ViewQuery, 'sort'>,
): Promise<Meant> {
  const key = { workspace_id: form.workspaceId, form_id: form.formId };
  if (q === undefined) {
    const filter = await readFormFilter(database, form, query);
    return { filter: { ...key, ...filter, is_any: filter.kind === 'any' }, asked: undefined };
  }
  const reached = await readAsked(database, { workspaceId: form.workspaceId, formIds: [form.formId] }, q);
  const filter = narrow(await readFormFilter(database, form, query), reached);
  const named = reached.isPlain ? await findByReference(database, key, q) : undefined;
  if (named !== undefined) {
    const one = { from_id: greatest(filter.from_id, named), to_id: least(filter.to_id, idBehind(named)) };
    return {
      filter: { ...key, ...filter, ...one, isDated: true, is_any: filter.kind === 'any' },
      asked: undefined,
    };
  }
  const { index, checks, hasWords, isPlain } = reached;
  const isAny = filter.kind === 'any' && !reached.isChecked;
  const asked = {
    workspace_id: form.workspaceId,
    form_ids: [form.formId],
    ...index,
    ...checks,
    is_open: !hasWords && !isPlain,
    isPlain,
  };
  if (checks.check_kinds.length > 0) await limitLooks(database, { ...asked, ...filter });
  return {
    filter: { ...key, ...filter, is_any: isAny },
    asked: reached.isList && reached.tag === null ? undefined : asked,
  };
}

/** Combines a filter with the operators of a query: both apply. */
function narrow(filter: Filter, { status, span }: Reached): Filter {
  const isContrary = status !== null && filter.status !== null && status !== filter.status;
  return {
    ...filter,
    status: status ?? filter.status,
    from_id: greatest(filter.from_id, span.from_id),
    to_id: isContrary ? span.from_id : least(filter.to_id, span.to_id),
    kind: status !== null && filter.kind === 'any' ? 'one' : filter.kind,
    isDated: filter.isDated || isContrary || span.from_id !== firstId || span.to_id !== lastId,
  };
}

/** @throws ApiError bad_request if the request needs too much work. The work is counted, not measured. */
async function limitLooks(
  database: Database,
  question: Omit<Parameters<typeof countLooks>[1], 'most'>,
): Promise<void> {
  const [{ count } = { count: 0 }] = await countLooks(database, { ...question, most: mostLooks + 1 });
  if (count <= mostLooks) return;
  const message = `More than ${mostLooks} submissions contain these words. Narrow the search for a phrase, an address or an element with "after:" and "before:".`;
  throw new ApiError('bad_request', message, { errors: [{ field: 'q', message, code: 'too_many' }] });
}

/**
 * Finds the submission whose short reference the text is; undefined if there is none and the text is a query.
 */
async function findByReference(
  database: Database,
  form: { workspace_id: string; form_id: string },
  q: string,
): Promise<string | undefined> {
  const asked = readShortReference(q);
  if (!asked) return undefined;
  const from_id = leastIdAt(asked.time);
  const to_id = leastIdAt(new Date(asked.time.getTime() + 1));
  const rows = await findIdsBetween(database, { ...form, from_id, to_id });
  return rows.find(({ id }) => shortReference(id) === asked.reference)?.id;
}

const least = (one: string, other: string): string => (one < other ? one : other);
const greatest = (one: string, other: string): string => (one > other ? one : other);

/** A submission of a page, with unparsed JSON. */
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
  /** In a sorted list: the position of the row, for the page cursor. */
  place?: string;
};

/** Reads one page and the exact total. */
export async function readViewPage(database: Database, view: View, cut: Cut) {
  const { filter, asked, sort, order } = view;
  const { limit, offset } = cut;
  if (sort) {
    const part = { ...filter, ...sort, after: readPlace(cut), limit, offset };
    const rows = await (asked
      ? sortedSearch.page(database, { ...part, ...asked })
      : sortedView.page(database, part));
    return { rows: foundIn(rows), total: cut.total ?? rows[0]!.total };
  }
  if (asked && cut.mark !== null)
    throw refuseCursor(
      '"cursor" and "q" can only be combined with "sort". Add "sort", or use "page" instead of "cursor".',
    );
  const isCounted = cut.total === undefined && !isPlain(filter);
  const list = listView[order][filter.kind];
  const rows =
    asked === undefined
      ? await list(database, { ...filter, ...leftOf(filter, cut), is_counted: isCounted, limit, offset })
      : await (asked.isPlain && filter.kind === 'any' && !filter.isDated ? searchViewOfWords : searchView)(
          database,
          { ...filter, ...asked, limit, offset },
        );
  return { rows: foundIn(rows), total: cut.total ?? rows[0]!.total };
}

const foundIn = (rows: readonly { id: string | null }[]): FoundRow[] =>
  rows.filter((row) => row.id !== null) as FoundRow[];

/** Returns the upper end of the ids that a page cursor has not reached yet. */
function leftOf({ to_id }: View['filter'], cut: Cut): { to_id: string } {
  const below = belowId(cut);
  return { to_id: below < to_id ? below : to_id };
}

/** Reads the submissions before and after a submission in the view. */
export async function readNeighbours(database: Database, view: View, id: string) {
  const { filter, asked, sort, order } = view;
  if (sort) {
    const key = { ...filter, ...sort, id };
    const [found] = asked
      ? await sortedSearch.neighbours(database, { ...key, ...asked })
      : await sortedView.neighbours(database, key);
    return found!;
  }
  const find = findNeighbours[order][filter.kind];
  const [found] =
    asked === undefined
      ? await find(database, { ...filter, id })
      : await searchNeighbours(database, { ...filter, ...asked, id });
  return found!;
}

/**
 * Reads every id, in order.
 * @throws ApiError validation_error for more than listedLimit.
 */
export async function readViewIds(database: Database, view: View): Promise<string[]> {
  const { filter, asked, sort } = view;
  const limit = listedLimit + 1;
  if (sort) {
    const part = { ...filter, ...sort, limit };
    const [found] = asked
      ? await sortedSearch.ids(database, { ...part, ...asked })
      : await sortedView.ids(database, part);
    return found!.ids;
  }
  const list = listViewIds[filter.kind];
  const [found] =
    asked === undefined
      ? await list(database, { ...filter, limit })
      : await searchViewIds(database, { ...filter, ...asked, limit });
  if (found!.ids.length < limit) return found!.ids;
  throw new ApiError(
    'validation_error',
    `A change or export can have at most ${listedLimit} submissions. Narrow the filter.`,
  );
}

/**
 * Yields every submission in order, in batches; reads the next batch while the caller processes the last.
 * Without search and sort, memory use is constant. Otherwise the query runs once, and all ids stay in memory.
 */
export async function* readWholeView(database: Database, view: View): AsyncGenerator<ExportedSubmission[]> {
  const { workspace_id, form_id } = view.filter;
  if (view.asked || view.sort) {
    const ids = await readViewIds(database, view);
    for (let at = 0; at < ids.length; at += batchSize) {
      const rows = await readListed(database, { workspace_id, form_id, ids: ids.slice(at, at + batchSize) });
      yield rows;
    }
    return;
  }
  const read = readViewDown[view.filter.kind];
  yield* readDown((to_id, limit) => read(database, { ...view.filter, to_id, limit }), view.filter.to_id);
}
