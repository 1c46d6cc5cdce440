import { defaultLanguage } from '#ast/languages.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { type Column, unionColumns } from '#submissions/columns.ts';
import { findAnsweredVersions, findViewedForm } from './queries.ts';

type FormKey = { workspaceId: string; formId: string };

/**
 * The form whose submissions are looked at.
 * @throws ApiError not_found.
 */
export async function readViewedForm(database: Database, { workspaceId, formId }: FormKey) {
  const [form] = await findViewedForm(database, { workspace_id: workspaceId, form_id: formId });
  if (!form) throw new ApiError('not_found');
  return { name: form.name, language: form.settings.language ?? defaultLanguage };
}

/** The columns of its table and its exports, over all versions that were answered. */
export async function readColumns(database: Database, { workspaceId, formId }: FormKey): Promise<Column[]> {
  const versions = await findAnsweredVersions(database, { workspace_id: workspaceId, form_id: formId });
  return unionColumns(versions.map((version) => version.structure));
}
