import { createHash } from 'node:crypto';
import { type TSchema, Type } from 'typebox';
import { uuidPattern } from './clock.ts';
import { ApiError } from './errors.ts';
import { listBeginning } from './validation.ts';

/**
 * Names a schema: the OpenAPI document has it once, as a component of this name, and refers to it wherever it is used.
 * To whoever checks with it nothing changes.
 */
export const named = <S extends TSchema>(name: string, schema: S): S =>
  Object.assign(schema, { 'x-component': name });

/** What a page has at most. Specification, "Limits". */
export const mostPerPage = 100;

/** The two parameters of every list. Outside their bounds: 400. Specification, "Endpoints" and "Limits". */
export const pageParameters = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1, description: 'Which page, from 1.' }),
  ),
  per_page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostPerPage, default: 20, description: 'How many on a page.' }),
  ),
};

/** The pagination object of every list answer. Specification, "Pagination object". */
const Pagination = named(
  'Pagination',
  Type.Object({
    page: Type.Integer(),
    per_page: Type.Integer(),
    total_count: Type.Integer(),
    total_pages: Type.Integer(),
  }),
);

/** A page as numbers: what to skip, what to take. */
type Page = { page: number; perPage: number; offset: number };

/** Reads the parameters, with their defaults. */
export function readPage(query: { page?: number; per_page?: number }): Page {
  const page = query.page ?? 1;
  const perPage = query.per_page ?? 20;
  return { page, perPage, offset: (page - 1) * perPage };
}

/** The pagination object for a page of a list that holds `total` items in all. */
export function paginate(
  { page, perPage }: Pick<Page, 'page' | 'perPage'>,
  total: number,
): { page: number; per_page: number; total_count: number; total_pages: number } {
  return { page, per_page: perPage, total_count: total, total_pages: Math.ceil(total / perPage) };
}

/** The parameters of a list that is read by page or by cursor. */
export const listParameters = {
  ...pageParameters,
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Instead of `page`, to read all of a list while others write, without a gap and without a repeat: `*` or an empty one begins, and the `next_cursor` of each answer goes on, with the same filter.',
    }),
  ),
};

/** What a list answers. */
export const listOf = <S extends TSchema>(item: S) =>
  Type.Object({
    data: Type.Array(item),
    pagination: Pagination,
    next_cursor: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Where a reading by cursor goes on; null at its end. Absent where none was asked for.',
      }),
    ),
  });

/** The part of a list that is asked for: a page by its number, or what comes behind a cursor. */
export type Cut = {
  page: number;
  perPage: number;
  /** For the statement. With a cursor it takes one more, which says that the list goes on. */
  limit: number;
  offset: number;
  /** The last that was read; null at the beginning, and for a page by its number. */
  after: string | null;
  /** How many there were when the reading by cursor began; undefined while nobody has counted. */
  total: number | undefined;
  /** What a cursor of this list is known by; null for a page by its number. */
  mark: string | null;
};

/** What stands beside the items of a list. */
export type Ends = { pagination: ReturnType<typeof paginate>; next_cursor?: string | null };

export const refuseCursor = (message: string): ApiError =>
  new ApiError('bad_request', message, { errors: [{ field: 'cursor', message }] });

/**
 * Reads which part of a list is asked for.
 * @param query what else it holds is the filter: a cursor goes on with the same one.
 * @param list names the list, and what it is a list of.
 * @throws ApiError bad_request for a cursor that this list never gave, and beside `page`.
 */
export const readCut = (query: ListQuery, ...list: readonly string[]): Cut =>
  readCutBy(uuidPattern, query, ...list);

type ListQuery = { page?: number; per_page?: number; cursor?: string };

/** The same of a list that is not in the order of its ids. @param place how the place behind a row is written. */
export function readCutBy(place: RegExp, query: ListQuery, ...list: readonly string[]): Cut {
  const { cursor, page: asked, per_page: _, ...filter } = query;
  const page = readPage(query);
  if (cursor === undefined)
    return { ...page, limit: page.perPage, after: null, total: undefined, mark: null };
  if (asked !== undefined) throw refuseCursor('"cursor" and "page" exclude each other.');
  const mark = markOf([...list, ...Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))]);
  const reading = { perPage: page.perPage, limit: page.perPage + 1, offset: 0, mark };
  if (cursor === listBeginning) return { ...reading, page: 1, after: null, total: undefined };
  const [given, number, total, after = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const isOurs = given === mark && /^\d{1,9} \d{1,15}$/.test(`${number} ${total}`) && place.test(after);
  if (!isOurs || rest.length > 0)
    throw refuseCursor(
      `"cursor" must be ${listBeginning}, or a "next_cursor" of this list with this filter.`,
    );
  return { ...reading, page: Number(number), after, total: Number(total) };
}

/** An id in capitals is the same id. */
const markOf = (list: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(list).toLowerCase()).digest('hex').slice(0, 16);

/** Below and above every id that is made. */
export const [firstId, lastId] = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

/** The lesser and the greater of two ids. */
export const least = (one: string, other: string): string => (one < other ? one : other);
export const greatest = (one: string, other: string): string => (one > other ? one : other);

/** For a list that is newest first: every id that is left is less. */
export const belowId = ({ after }: Pick<Cut, 'after'>): string => after ?? lastId;
/** For a list that is oldest first: every id that is left is this one or greater. */
export const leastId = ({ after }: Pick<Cut, 'after'>): string =>
  after === null ? firstId : idBehind(after);

/** The least id that is greater than this one. */
export function idBehind(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return [0, 8, 12, 16, 20].map((at, index) => hex.slice(at, [8, 12, 16, 20, 32][index])).join('-');
}

/** Takes off the row that says that there is more, and says where the list goes on. */
export const endCut = <Row extends { id: string }>(cut: Cut, rows: readonly Row[], total: number) =>
  endCutBy(cut, rows, total, ({ id }) => id);

/** The same of a list that readCutBy reads. @param placeOf the place behind a row. */
export function endCutBy<Row>(
  cut: Cut,
  rows: readonly Row[],
  total: number,
  placeOf: (row: Row) => string,
): { rows: readonly Row[]; ends: Ends } {
  const pagination = paginate(cut, total);
  if (cut.mark === null) return { rows, ends: { pagination } };
  const taken = rows.slice(0, cut.perPage);
  const isOver = rows.length === taken.length;
  const text = `${cut.mark} ${cut.page + 1} ${total} ${isOver ? '' : placeOf(taken.at(-1)!)}`;
  const next_cursor = isOver ? null : Buffer.from(text).toString('base64url');
  return { rows: taken, ends: { pagination, next_cursor } };
}
