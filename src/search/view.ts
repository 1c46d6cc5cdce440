import { type Static, Type } from 'typebox';
import { formatSubmissionReference, parseSubmissionReference } from '#ast/short-reference.ts';
import { leastIdAt } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { greaterId, lesserId, maximumId, minimumId, nextGreaterId } from '#kit/pagination.ts';
import { type RowOf, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import type { foundColumns } from '#submissions/submission-rows.ts';
import {
  type FormsFilterQuery,
  formFilterParameters,
  readFormFilter,
  readSubmissionFilter,
  type SubmissionFilter,
} from './filter/read-filter.ts';
import { countSubmissionsInSpan } from './filter/read-where.ts';
import { type FormConditions, readWhereOfForms } from './filter/where-of-forms.ts';
import { limitSortedCount, mostSorted, readSort, type Sort, sortParameter } from './read-sort.ts';
import { type ResolvedSearch, resolveSearch } from './resolve-search.ts';
import { countCandidates } from './search-rows.ts';

/** The words to find in the index, as parameters of statements. */
export type ViewSearch = ResolvedSearch['index'] &
  ResolvedSearch['checks'] &
  Pick<ResolvedSearch, 'isPlain' | 'isChecked'> & { is_open: boolean };

/**
 * Which submissions are read, and in which order. Every reader of submissions creates one: the lists, the
 * search, the table of a form with its neighbors, exports and bulk changes. read-submissions.ts plans how
 * PostgreSQL finds the submissions.
 */
export type View = {
  workspace_id: string;
  /** Null for all forms of the workspace. */
  form_ids: string[] | null;
  /** The one form that is read, which must exist; null if several forms are read. */
  form_id: string | null;
  filter: SubmissionFilter;
  /** The condition for each form, if `where` applies to several forms. */
  conditions?: FormConditions | undefined;
  /** Undefined if the word index is not used. */
  question: ViewSearch | undefined;
  /** If there is a question, results are sorted by relevance unless the order is a Sort. */
  order: 'newest' | 'oldest' | 'received' | Sort;
};

export type FoundSubmission = RowOf<typeof foundColumns>;

/** A page, the total number of matches, and whether a search left some of them out. */
export type FoundPage<Row> = { rows: Row[]; total: number; isPartial?: boolean };

/** A view of one form. */
export type FormView = View & { form_id: string };

export const viewParameters = {
  ...formFilterParameters,
  q: Type.Optional(Type.String({ description: 'A search query. Results are then sorted by relevance.' })),
  sort: sortParameter,
};

/** Which submissions of a form are read. All properties are optional. */
export const ViewQuery = strictObject(viewParameters);
export type ViewQuery = Static<typeof ViewQuery>;

type Form = { workspaceId: string; formId: string };
type Reach = { workspaceId: string; formIds: readonly string[] | null };

const viewOf = ({ workspaceId, formId }: Form) => ({
  workspace_id: workspaceId,
  form_ids: [formId],
  form_id: formId,
});

/**
 * Reads the view for a list of all accessible forms.
 * @throws ApiError bad_request for invalid conditions, or conditions that take too much work.
 */
export async function readFormsView(
  database: Database,
  reach: Reach,
  query: FormsFilterQuery,
  order: 'newest' | 'oldest',
): Promise<View> {
  const { workspaceId, formIds } = reach;
  const { where } = query;
  const filter = readSubmissionFilter(query);
  const conditions = where === undefined ? undefined : await readWhereOfForms(database, reach, where, filter);
  const form_ids = formIds && [...formIds];
  return {
    workspace_id: workspaceId,
    form_ids,
    form_id: null,
    filter,
    conditions,
    question: undefined,
    order,
  };
}

/** Reads the view for the list of one form. @throws ApiError bad_request, like readFormsView. */
export async function readListView(
  database: Database,
  form: Form,
  query: Omit<ViewQuery, 'q' | 'sort'>,
  order: 'newest' | 'oldest',
): Promise<View> {
  const filter = await readFormFilter(database, form, query);
  return { ...viewOf(form), filter, question: undefined, order };
}

/**
 * Reads the view for a search. A query that consists only of operators with an index is a list, newest first.
 * @throws ApiError bad_request for a query that cannot be searched.
 */
export async function readSearchView(database: Database, reach: Reach, q: string): Promise<View> {
  const reached = await resolveSearch(database, reach, q);
  const { form_ids, tag, isList } = reached;
  const filter = narrow(readSubmissionFilter({}), reached);
  return {
    workspace_id: reach.workspaceId,
    form_ids,
    form_id: null,
    filter: isList && tag !== null ? { ...filter, tag, kind: 'tagged' } : filter,
    question: isList ? undefined : viewSearchOf(reached),
    order: 'newest',
  };
}

/**
 * Reads the view for the table of a form. If the query is the short reference of a submission, it finds only
 * that submission. The operators of the query are added to the filter.
 * @param isPart whether the caller reads only one page, or the neighbors of one submission.
 * @throws ApiError bad_request for a query that cannot be searched, invalid conditions, columns that cannot
 * be sorted by, or too many submissions to sort.
 */
export async function readTableView(
  database: Database,
  form: Form,
  { sort: sortedBy, ...query }: ViewQuery,
  { isPart = false } = {},
): Promise<FormView> {
  // An index has this order, so only the requested part is read.
  const isReceived = isPart && sortedBy === '-$received' && query.q === undefined;
  const [matched, sort] = await Promise.all([
    readMatched(database, form, query),
    // A search is sorted by relevance unless newest first is requested.
    isReceived ? undefined : readSort(database, form, sortedBy, { isUsual: query.q === undefined }),
  ]);
  const view = { ...viewOf(form), ...matched, order: sort ?? (isReceived ? 'received' : 'newest') } as const;
  // A query that is checked has been counted, up to a lower limit.
  if (sort && !matched.question?.isChecked) limitSortedCount(await countUpTo(database, view, mostSorted + 1));
  return view;
}

/** Counts the submissions that a sorted view has to read, up to `most`. */
async function countUpTo(database: Database, view: FormView, most: number): Promise<number> {
  const { filter, question, workspace_id, form_id } = view;
  const span = { ...filter, workspace_id, form_ids: [form_id], most };
  const [counted] = question
    ? await countCandidates(database, { ...span, ...question })
    : await countSubmissionsInSpan(database, span);
  return counted!.count;
}

async function readMatched(
  database: Database,
  form: Form,
  { q, ...query }: Omit<ViewQuery, 'sort'>,
): Promise<Pick<View, 'filter' | 'question'>> {
  if (q === undefined) return { filter: await readFormFilter(database, form, query), question: undefined };
  const reached = await resolveSearch(database, { workspaceId: form.workspaceId, formIds: [form.formId] }, q);
  const filter = narrow(await readFormFilter(database, form, query), reached);
  const key = { workspace_id: form.workspaceId, form_id: form.formId };
  const named = reached.isPlain ? await findByReference(database, key, q) : undefined;
  if (named !== undefined) {
    const one = {
      from_id: greaterId(filter.from_id, named),
      to_id: lesserId(filter.to_id, nextGreaterId(named)),
    };
    return { filter: { ...filter, ...one, isDated: true }, question: undefined };
  }
  const question = viewSearchOf(reached);
  if (reached.isChecked)
    await requireFewCandidates(database, {
      ...filter,
      ...question,
      workspace_id: key.workspace_id,
      form_ids: [form.formId],
    });
  return { filter, question: reached.isList && reached.tag === null ? undefined : question };
}

const viewSearchOf = ({ index, checks, hasWords, isPlain, isChecked }: ResolvedSearch): ViewSearch => ({
  ...index,
  ...checks,
  is_open: !hasWords && !isPlain,
  isPlain,
  isChecked,
});

/** Returns a filter that also applies the operators of a query. */
function narrow(filter: SubmissionFilter, { status, span }: ResolvedSearch): SubmissionFilter {
  const isContrary = status !== null && filter.status !== null && status !== filter.status;
  return {
    ...filter,
    status: status ?? filter.status,
    from_id: greaterId(filter.from_id, span.from_id),
    to_id: isContrary ? span.from_id : lesserId(filter.to_id, span.to_id),
    kind: status !== null && filter.kind === 'any' ? 'one' : filter.kind,
    isDated: filter.isDated || isContrary || span.from_id !== minimumId || span.to_id !== maximumId,
  };
}

/**
 * The maximum number of submissions with the words of a query that are checked one by one, which takes about
 * a second.
 */
const mostCandidates = 50_000;

/** @throws ApiError bad_request if the request needs too much work. The work is estimated, not measured. */
async function requireFewCandidates(
  database: Database,
  question: Omit<Parameters<typeof countCandidates>[1], 'most'>,
): Promise<void> {
  const [{ count } = { count: 0 }] = await countCandidates(database, {
    ...question,
    most: mostCandidates + 1,
  });
  if (count <= mostCandidates) return;
  const message = `More than ${mostCandidates} submissions contain these words. To search them for a phrase, an address or an element, add "after:" and "before:".`;
  throw new ApiError('bad_request', message, { errors: [{ field: 'q', message, code: 'too_many' }] });
}

/** Selects the submissions of a form that were created within a range of milliseconds. */
const findIdsBetween = statement('workspace_id form_id from_id to_id', 'id')`
  select id from submissions
  where workspace_id = $workspace_id and form_id = $form_id and id >= $from_id and id < $to_id
    and trashed_at is null`;

/**
 * Finds the submission with this text as its short reference; undefined if there is none and the text is a
 * query.
 */
async function findByReference(
  database: Database,
  form: { workspace_id: string; form_id: string },
  q: string,
): Promise<string | undefined> {
  const parsed = parseSubmissionReference(q);
  if (!parsed) return undefined;
  const from_id = leastIdAt(parsed.time);
  const to_id = leastIdAt(new Date(parsed.time.getTime() + 1));
  const rows = await findIdsBetween(database, { ...form, from_id, to_id });
  return rows.find(({ id }) => formatSubmissionReference(id) === parsed.reference)?.id;
}
