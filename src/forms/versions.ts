import { countVersions, findVersion, listVersions } from './queries.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { paginate, readPage } from '#kit/pagination.ts';

/**
 * A page of a form's versions, newest first, without their structures.
 * @throws ApiError not_found.
 */
export async function listFormVersions(
  database: Database,
  workspaceId: string,
  formId: string,
  query: { page?: number; per_page?: number },
) {
  const page = readPage(query);
  const form = { workspace_id: workspaceId, form_id: formId };
  const [data, [count]] = await Promise.all([
    listVersions(database, { ...form, limit: page.perPage, offset: page.offset }),
    countVersions(database, form),
  ]);
  if (!count) throw new ApiError('not_found');
  return { data, pagination: paginate(page, count.total) };
}

/**
 * One version with its structure.
 * @throws ApiError not_found.
 */
export async function readVersion(database: Database, workspaceId: string, formId: string, version: number) {
  const [row] = await findVersion(database, { workspace_id: workspaceId, form_id: formId, version });
  if (!row) throw new ApiError('not_found');
  return row;
}
