import { countVersions, findVersion, listVersions } from './queries.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { endCutBy, readCutBy } from '#kit/cursor.ts';
import { requireRow } from '#kit/statement.ts';

/**
 * A page of a form's versions, newest first, without their structures.
 * @throws ApiError not_found.
 */
export async function listFormVersions(
  database: Database,
  workspaceId: string,
  formId: string,
  query: { page?: number; per_page?: number; cursor?: string },
) {
  const cut = readCutBy(/^\d{1,9}$/, query, 'versions', formId);
  const form = { workspace_id: workspaceId, form_id: formId };
  const [found, [count]] = await Promise.all([
    listVersions(database, {
      ...form,
      below_version: cut.after === null ? 2_147_483_647 : Number(cut.after),
      limit: cut.limit,
      offset: cut.offset,
    }),
    countVersions(database, form),
  ]);
  if (!count) throw new ApiError('not_found');
  const { rows, ends } = endCutBy(cut, found, cut.total ?? count.total, ({ version }) => String(version));
  return { data: [...rows], ...ends };
}

/**
 * One version with its structure.
 * @throws ApiError not_found.
 */
export async function readVersion(database: Database, workspaceId: string, formId: string, version: number) {
  const row = requireRow(
    await findVersion(database, { workspace_id: workspaceId, form_id: formId, version }),
  );
  return row;
}
