import { createHash } from 'node:crypto';
import { type TProperties, type TSchema, Type } from 'typebox';
import { uuidPattern } from './clock.ts';
import { ApiError } from './errors.ts';
import { listStartCursor } from './validation.ts';

/** Names a schema, which becomes one component of the OpenAPI document. Validation is not affected. */
export const nameSchema = <S extends TSchema>(name: string, schema: S): S =>
  Object.assign(schema, { 'x-component': name });

/** Returns an object schema with a name (nameSchema). */
export const namedObject = <P extends TProperties>(name: string, properties: P) =>
  nameSchema(name, Type.Object(properties));

/** The maximum page size. Specification, "Limits". */
export const mostPerPage = 100;

/** The parameters of every list. Values out of bounds return 400. Specification, "Endpoints" and "Limits". */
export const pageParameters = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1,
      description: 'The page number, starting at 1.',
    }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPerPage,
      default: 20,
      description: 'The number of items per page.',
    }),
  ),
};

/** The pagination object of every list response. Specification, "Pagination object". */
const Pagination = namedObject('Pagination', {
  page: Type.Integer(),
  per_page: Type.Integer(),
  total_count: Type.Integer(),
  total_pages: Type.Integer(),
});

type Page = { page: number; perPage: number; offset: number };

/** Returns the page parameters, with their defaults. */
export function readPageParameters(query: { page?: number; per_page?: number }): Page {
  const page = query.page ?? 1;
  const perPage = query.per_page ?? 20;
  return { page, perPage, offset: (page - 1) * perPage };
}

/** Returns the pagination object for a page of a list with `total` items. */
export function toPagination(
  { page, perPage }: Pick<Page, 'page' | 'perPage'>,
  total: number,
): { page: number; per_page: number; total_count: number; total_pages: number } {
  return { page, per_page: perPage, total_count: total, total_pages: Math.ceil(total / perPage) };
}

/** The parameters of a list with pages and cursors. */
export const listParameters = {
  ...pageParameters,
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Use this instead of `page` to read a whole list without gaps or repeats, even if the list changes. Start with `*` or an empty value. Continue with the `next_cursor` of each response and the same filter.',
    }),
  ),
};

export const listSchemaOf = <S extends TSchema>(item: S) =>
  Type.Object({
    data: Type.Array(item),
    pagination: Pagination,
    next_cursor: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'The cursor of the next page; null at the end of the list. Absent if the request had no cursor.',
      }),
    ),
  });

/** The requested part of a list: a page by number, or the items after a cursor. */
export type PageRequest = {
  page: number;
  perPage: number;
  /** The limit for the statement. With a cursor it is one more, to see whether the list continues. */
  limit: number;
  offset: number;
  /** The last item that was read; null at the start, and for a page by number. */
  after: string | null;
  /** The number of items when reading by cursor began; undefined if it is not counted yet. */
  total: number | undefined;
  /** The hash that ties a cursor to its list and filter; null for a page by number. */
  mark: string | null;
};

/** The properties of a list response besides its items. */
export type ListFooter = { pagination: ReturnType<typeof toPagination>; next_cursor?: string | null };

export const createCursorError = (message: string): ApiError =>
  new ApiError('bad_request', message, { errors: [{ field: 'cursor', message }] });

/**
 * Reads the requested part of a list.
 * @param query its other properties are the filter, which must not change while reading by cursor.
 * @param list the name of the list and of its parent.
 * @throws ApiError bad_request for a cursor of another list or filter, and for a cursor with `page`.
 */
export const readPageRequest = (query: ListQuery, ...list: readonly string[]): PageRequest =>
  readPageRequestByPosition(uuidPattern, query, ...list);

type ListQuery = { page?: number; per_page?: number; cursor?: string };

/** Reads the requested part of a list that is not ordered by id. @param place the pattern of a position. */
export function readPageRequestByPosition(
  place: RegExp,
  query: ListQuery,
  ...list: readonly string[]
): PageRequest {
  const { cursor, page: pageNumber, per_page: _, ...filter } = query;
  const page = readPageParameters(query);
  if (cursor === undefined)
    return { ...page, limit: page.perPage, after: null, total: undefined, mark: null };
  if (pageNumber !== undefined) throw createCursorError('"cursor" and "page" cannot be used together.');
  const mark = markOf([...list, ...Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))]);
  const reading = { perPage: page.perPage, limit: page.perPage + 1, offset: 0, mark };
  if (cursor === listStartCursor) return { ...reading, page: 1, after: null, total: undefined };
  const [given, number, total, after = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const isOurs = given === mark && /^\d{1,9} \d{1,15}$/.test(`${number} ${total}`) && place.test(after);
  if (!isOurs || rest.length > 0)
    throw createCursorError(
      `"cursor" must be ${listStartCursor}, or a "next_cursor" that this list returned for the same filter.`,
    );
  return { ...reading, page: Number(number), after, total: Number(total) };
}

/** Ignores case, because ids are not case-sensitive. */
const markOf = (list: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(list).toLowerCase()).digest('hex').slice(0, 16);

/** Bounds below and above every id. */
export const [minimumId, maximumId] = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

/** The lesser and the greater of two ids. */
export const lesserId = (one: string, other: string): string => (one < other ? one : other);
export const greaterId = (one: string, other: string): string => (one > other ? one : other);

/** Returns the exclusive upper bound of the remaining ids, for lists that are newest first. */
export const upperIdBound = ({ after }: Pick<PageRequest, 'after'>): string => after ?? maximumId;
/** Returns the inclusive lower bound of the remaining ids, for lists that are oldest first. */
export const lowerIdBound = ({ after }: Pick<PageRequest, 'after'>): string =>
  after === null ? minimumId : nextGreaterId(after);

/** Returns the next greater id. */
export function nextGreaterId(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return [0, 8, 12, 16, 20].map((at, index) => hex.slice(at, [8, 12, 16, 20, 32][index])).join('-');
}

/** Removes the extra row and returns the cursor of the next page. */
export const finishPage = <Row extends { id: string }>(
  cut: PageRequest,
  rows: readonly Row[],
  total: number,
) => finishPageByPosition(cut, rows, total, ({ id }) => id);

/** Ends a page of a list that readPageRequestByPosition reads. @param placeOf returns the position after a row. */
export function finishPageByPosition<Row>(
  cut: PageRequest,
  rows: readonly Row[],
  total: number,
  placeOf: (row: Row) => string,
): { rows: readonly Row[]; ends: ListFooter } {
  const pagination = toPagination(cut, total);
  if (cut.mark === null) return { rows, ends: { pagination } };
  const taken = rows.slice(0, cut.perPage);
  const isOver = rows.length === taken.length;
  const text = `${cut.mark} ${cut.page + 1} ${total} ${isOver ? '' : placeOf(taken.at(-1)!)}`;
  const next_cursor = isOver ? null : Buffer.from(text).toString('base64url');
  return { rows: taken, ends: { pagination, next_cursor } };
}
