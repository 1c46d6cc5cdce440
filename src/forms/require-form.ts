import type { Scope } from '#kit/operation.ts';
import { columns, jsonb, type Queryable, requireRow, statement, word } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import type { Settings } from '#ast/settings.ts';
import { sentStructure } from './structure-columns.ts';
import type { FormStatus } from './present.ts';

/** The columns of every answer about a form. */
export const formColumns = columns('id workspace_id name description created_at updated_at published_at?', {
  status: word<FormStatus>(),
});

/** How many submissions the form `f` has. */
export const submissionCount = `(
  select coalesce(sum(count), 0)::bigint from submission_counts c
  where c.workspace_id = f.workspace_id and c.form_id = f.id)`;

export const findForm = statement(
  'find_form',
  'workspace_id id',
  ['submission_count', { settings: jsonb<Settings>(), structure: sentStructure }, formColumns],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          f.settings, v.structure, ${submissionCount} as submission_count
   from forms f join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`,
);

/** Of a form that is there. */
export const findFormSettings = statement(
  'find_form_settings',
  'workspace_id id',
  { settings: jsonb<Settings>() },
  'select settings from forms where workspace_id = $workspace_id and id = $id and deleted_at is null',
);

/** A form of a workspace. @throws ApiError not_found, for that of another workspace as for none. */
export async function requireForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findForm(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found;
}

/** The same without reading what it asks: its settings. @throws ApiError not_found. */
export async function requireFormSettings(db: Queryable, key: { workspaceId: string; formId: string }) {
  const found = requireRow(await findFormSettings(db, { workspace_id: key.workspaceId, id: key.formId }));
  return found.settings;
}

/** The key of a form that is there, and within reach of who asks. @throws ApiError not_found. */
export async function reachForm(
  db: Queryable,
  { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
  formId: string,
): Promise<{ workspaceId: string; formId: string }> {
  requireReach(formIds, formId);
  await requireFormSettings(db, { workspaceId, formId });
  return { workspaceId, formId };
}
