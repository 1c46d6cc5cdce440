import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { endCutBy, readCutBy } from '#kit/pagination.ts';
import { jsonb, nullable, requireRow, statement } from '#kit/statement.ts';
import type { Settings } from '#ast/settings.ts';
import { sentStructure } from './structure-columns.ts';

/** One page of a form's versions, newest first. */
const listVersions = statement(
  'list_versions',
  'workspace_id form_id below_version:integer limit offset',
  'version name created_at created_by? is_live',
  `select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   left join users u on u.id = v.created_by
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
     and v.version < $below_version
   order by v.version desc limit $limit offset $offset`,
);

/** Versions are never removed alone, so the live one's number is how many there are; no row for an absent form. */
const countVersions = statement(
  'count_versions',
  'workspace_id form_id',
  'total:integer',
  `select version as total from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null`,
);

export const findVersion = statement(
  'find_version',
  'workspace_id form_id version',
  [
    'version name created_at created_by? is_live',
    { structure: sentStructure, settings: nullable(jsonb<Settings>()) },
  ],
  `select v.version, v.name, v.created_at, u.name as created_by, v.version = f.version as is_live, v.structure, v.settings
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   left join users u on u.id = v.created_by
   where f.workspace_id = $workspace_id and f.id = $form_id and v.version = $version and f.deleted_at is null`,
);

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
