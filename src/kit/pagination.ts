import { Type } from 'typebox';
import { named } from './named.ts';

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
export const Pagination = named(
  'Pagination',
  Type.Object({
    page: Type.Integer(),
    per_page: Type.Integer(),
    total_count: Type.Integer(),
    total_pages: Type.Integer(),
  }),
);

/** A page as numbers: what to skip, what to take. */
export type Page = { page: number; perPage: number; offset: number };

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
