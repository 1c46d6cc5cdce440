import type { Database } from '#kit/database.ts';
import type { SayOption } from './hits.ts';
import { statement } from '#kit/statement.ts';

/**
 * Options whose label is not what answers keep, of the named elements, or of all, in forms as they are live. Only forms that
 * have such options are taken apart.
 */
export const listLabelledOptions = statement(
  'list_labelled_options',
  'workspace_id form_ids? elements?',
  'form_id element id:text label',
  `select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, option ->> 'label' as label
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
     -- An object among options, behind any number of texts.
     and v.structure::text ~ '"options"\\s*:\\s*\\[(?:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*,)*\\s*\\{'
   cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
   cross join jsonb_array_elements(asking.attrs -> 'options') as option
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
     and ($elements is null or asking.attrs ->> 'id' = any ($elements)) and option ->> 'label' is not null`,
);

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
