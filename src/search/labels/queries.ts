import { statement } from '#kit/statement.ts';

/**
 * Options in whose label, in any language of the live form, one of some texts stands, whatever its case. Only forms that
 * have such a text in them are taken apart.
 */
export const listOptionsSaying = statement(
  'list_options_saying',
  'workspace_id form_ids? texts',
  'form_id element id:text label',
  `select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, said.label
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
     and exists (
       select from unnest($texts) as sought
       where strpos(lower(v.structure::text), lower(trim('"' from to_json(sought)::text))) > 0)
   cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
   cross join jsonb_array_elements(asking.attrs -> 'options') as option
   cross join lateral (
     select option ->> 'label' as label
     union
     select translation.texts -> 'options' ->> (option ->> 'id')
     from jsonb_each(coalesce(asking.attrs -> 'translations', '{}')) as translation (language, texts)) said
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
     and option ->> 'label' is not null
     and exists (select from unnest($texts) as sought where strpos(lower(said.label), lower(sought)) > 0)`,
);
