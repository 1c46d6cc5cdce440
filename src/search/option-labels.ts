import type { Database } from '#kit/database.ts';
import type { SayOption } from './hits.ts';
import { listLabelledOptions } from './queries.ts';

/** A form in the version that is live. */
type Live = { id: string; version: number };

/** By element and id of the option. */
type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The labels of options whose ids answers keep, by form, as the forms are now; undefined of a form without any. */
export type OptionLabels = (
  workspaceId: string,
  forms: readonly Live[],
) => Promise<(formId: string) => SayOption | undefined>;

/** Versions whose labels are kept. */
const keptVersions = 200;

/** Labels are asked for once per version, since versions never change. */
export function openOptionLabels(database: Database): OptionLabels {
  const kept = new Map<string, Labels>();

  const readLabels = async (workspace_id: string, forms: readonly Live[]): Promise<void> => {
    const form_ids = forms.map(({ id }) => id);
    const rows = await listLabelledOptions(database, { workspace_id, form_ids, elements: null });
    const rowsOf = Map.groupBy(rows, ({ form_id }) => form_id);
    for (const form of forms) {
      const byElement = Map.groupBy(rowsOf.get(form.id) ?? [], ({ element }) => element);
      kept.set(
        keyOf(form),
        new Map(
          [...byElement].map(([element, options]) => [
            element,
            new Map(options.map(({ id, label }) => [id, label])),
          ]),
        ),
      );
    }
  };

  return async (workspaceId, forms) => {
    const unknown = forms.filter((form) => !kept.has(keyOf(form)));
    if (unknown.length > 0) await readLabels(workspaceId, unknown);
    const labels = new Map(forms.map((form) => [form.id, kept.get(keyOf(form))!]));
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - keptVersions)))
      kept.delete(oldest);
    return (formId) => {
      const ofForm = labels.get(formId);
      return ofForm?.size ? (element, id) => ofForm.get(element)?.get(id) : undefined;
    };
  };
}

const keyOf = ({ id, version }: Live): string => `${id}:${version}`;
