import type { Database } from '#kit/database.ts';
import type { SayOption } from './hits.ts';
import { listLabelledOptions } from './queries.ts';

/** The labels of options whose ids answers keep, by form, as the forms are now. */
export async function readOptionLabels(
  database: Database,
  workspace_id: string,
  form_ids: string[],
): Promise<(formId: string) => SayOption> {
  const rows = await listLabelledOptions(database, { workspace_id, form_ids, elements: null });
  const labels = new Map(rows.map((row) => [keyOf(row.form_id, row.element, row.id), row.label]));
  return (formId) => (element, id) => labels.get(keyOf(formId, element, id));
}

const keyOf = (...parts: string[]): string => JSON.stringify(parts);
