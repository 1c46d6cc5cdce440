import type { Settings } from '#ast/settings.ts';
import { jsonb, nullable, statement } from '#kit/statement.ts';
import { sentStructure } from '#forms/structure-columns.ts';

/** The newest versions of a form up to one of them, as far as there is room for their texts, that one in any case; oldest first. */
export const selectVersionsToPack = statement(
  'select_versions_to_pack',
  'workspace_id form_id last:integer limit bytes',
  ['version created_at', { structure: sentStructure, settings: nullable(jsonb<Settings>()) }],
  `select version, created_at, structure, settings from (
     select version, created_at, structure, settings,
            sum(octet_length(structure::text) + coalesce(octet_length(settings::text), 0)) over (order by version desc) as so_far
     from form_versions
     where workspace_id = $workspace_id and form_id = $form_id and version <= $last and version > $last - $limit) counted
   where so_far <= $bytes or version = $last
   order by version`,
);
