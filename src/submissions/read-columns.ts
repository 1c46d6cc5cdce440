import { defaultSearchLanguage } from '#ast/basics/languages.ts';
import type { Form } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { jsonb, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { type Column, listColumnsOfVersions } from './columns.ts';
import { languageParameter, TableColumns } from './shapes.ts';

/** Selects a form whose submissions are to be read; returns nothing if it is deleted. */
export const findViewedForm = statement('workspace_id form_id', [
  'name version',
  { settings: jsonb<Settings>() },
])`
  select name, version, settings from forms
  where workspace_id = $workspace_id and id = $form_id and deleted_at is null`;

/**
 * Selects the structures of the live version and of all versions that were answered, newest first. The index
 * submissions_of_version finds the greatest answered version up to each one. If the planner saw a search for
 * any submission of a version, it would read the whole table where it expects one soon.
 */
const listAnsweredStructures = statement('workspace_id form_id most', {
  structure: effectiveFormColumn,
})`
  select v.structure
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
  cross join lateral (
    select max(s.version) as version from submissions s
    where s.workspace_id = v.workspace_id and s.form_id = v.form_id and s.version <= v.version and s.trashed_at is null) answered
  where f.workspace_id = $workspace_id and f.id = $form_id and v.version in (f.version, answered.version)
  order by v.version desc limit $most`;

/** Selects the structures of versions, newest first. */
export const readStructures = statement('workspace_id form_id versions:integers', {
  structure: effectiveFormColumn,
})`
  select structure from form_versions
  where workspace_id = $workspace_id and form_id = $form_id and version = any ($versions)
  order by version desc`;

type FormKey = { workspaceId: string; formId: string };

/**
 * Reads the name, live version, access mode and language of a form.
 * @throws ApiError not_found.
 */
export async function readViewedForm(database: Database, { workspaceId, formId }: FormKey) {
  const form = requireRow(await findViewedForm(database, { workspace_id: workspaceId, form_id: formId }));
  return {
    name: form.name,
    version: form.version,
    access: form.settings.access,
    language: form.settings.language ?? defaultSearchLanguage,
  };
}

/** The maximum number of versions, newest first, from which columns are derived. */
const mostVersions = 200;

/**
 * Reads the columns of a form's table and exports, across all versions that were answered.
 * @param language the language of the headings, if the form has it (BCP 47).
 */
export const readColumns = async (
  database: Database,
  form: FormKey,
  language: string | undefined,
): Promise<Column[]> => listColumnsOfVersions(await readAnsweredStructures(database, form), language);

/** Reads the structures of the live version and of all versions that were answered, newest first. */
export async function readAnsweredStructures(
  database: Queryable,
  { workspaceId, formId }: FormKey,
): Promise<Form[]> {
  const rows = await listAnsweredStructures(database, {
    workspace_id: workspaceId,
    form_id: formId,
    most: mostVersions,
  });
  return rows.map(({ structure }) => structure);
}

export const columnEndpoints = ({ database }: { database: Database }) => ({
  getFormColumns: operation({
    summary: 'List columns of a form',
    description:
      'Returns the questions of all answered versions in the order of the live version. Each retired question keeps its position.',
    permission: 'submissions:read',
    params: idParameter,
    query: strictObject({ language: languageParameter }),
    reply: { status: 200, description: 'The columns.', schema: TableColumns },
    async run({ workspaceId, params, query }) {
      const form = { workspaceId, formId: params.id };
      await readViewedForm(database, form);
      return { body: { data: await readColumns(database, form, query.language) } };
    },
  }),
});
