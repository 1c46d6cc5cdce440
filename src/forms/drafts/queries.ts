import type { Settings } from '#ast/settings.ts';
import { json, jsonb, nullable, statement } from '#kit/statement.ts';
import { formColumns, submissionCount } from '../queries.ts';
import { sentStructure } from '../structure-columns.ts';

/** What the builder opens: the form, its live version, and its working copy when it has one. */
export const findBuilderForm = statement(
  'find_builder_form',
  'workspace_id id',
  [
    'has_password:boolean submission_count version version_created_at:timestamp',
    'version_created_by:text? revision? base_version? saved_at? saved_by?',
    'is_untouched:boolean?',
    {
      settings: jsonb<Settings>(),
      structure: sentStructure,
      draft_structure: nullable(json<object>()),
      draft_settings: nullable(jsonb<Settings>()),
    },
    formColumns,
  ],
  `select f.id, f.workspace_id, f.name, f.description, f.status, f.created_at, f.updated_at, f.published_at,
          f.settings, f.password_hash is not null as has_password, ${submissionCount} as submission_count,
          f.version, v.structure, v.created_at as version_created_at, author.name as version_created_by,
          d.revision, d.structure as draft_structure, d.settings as draft_settings, d.base_version, d.saved_at,
          saver.name as saved_by,
          d.structure::text = base.structure::text and d.settings = coalesce(base.settings, d.settings) as is_untouched
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   left join users author on author.id = v.created_by
   left join form_drafts d on d.workspace_id = f.workspace_id and d.form_id = f.id
   left join form_versions base on base.workspace_id = f.workspace_id and base.form_id = f.id and base.version = d.base_version
   left join users saver on saver.id = d.saved_by
   where f.workspace_id = $workspace_id and f.id = $id and f.deleted_at is null`,
);

/**
 * The next revision of the working copy, when it still is at one of `revisions` (0: there is none yet; null: whatever it
 * is at); no row otherwise.
 * base_version only grows: a copy that was published rests on that version whoever saves it next. Settings that are
 * not sent stay.
 */
export const saveDraft = statement(
  'save_draft',
  [
    'workspace_id form_id revisions:integers? structure:jsonText base_version saved_by? now',
    { settings: nullable(jsonb<Settings>()) },
  ],
  'revision saved_at',
  `insert into form_drafts (workspace_id, form_id, structure, settings, revision, base_version, saved_by, saved_at)
   select f.workspace_id, f.id, $structure, coalesce($settings, f.settings), 1, $base_version, $saved_by, $now
   from forms f
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null and $base_version <= f.version
     and ($revisions is null or 0 = any ($revisions) or exists (
       select from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id))
   on conflict (workspace_id, form_id) do update set
     structure = excluded.structure, settings = coalesce($settings, form_drafts.settings),
     revision = form_drafts.revision + 1,
     base_version = greatest(form_drafts.base_version, excluded.base_version),
     saved_by = excluded.saved_by, saved_at = excluded.saved_at
   where $revisions is null or form_drafts.revision = any ($revisions)
   returning revision, saved_at`,
);

/** The working copy rests on the form's live version from now on. */
export const rebaseDraft = statement(
  'rebase_draft',
  'workspace_id form_id',
  '',
  `update form_drafts d set base_version = f.version
   from forms f
   where d.workspace_id = $workspace_id and d.form_id = $form_id and f.workspace_id = d.workspace_id and f.id = d.form_id`,
);
