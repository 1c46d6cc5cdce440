import type { Scope } from '#kit/operation.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import { requireReach } from '#workspaces/reach.ts';
import { findForm, findFormSettings } from './queries.ts';

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
