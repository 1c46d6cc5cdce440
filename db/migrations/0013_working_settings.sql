-- Settings belong to the working copy and to every version, as the tree does: what was live once can be compared
-- with and restored as a whole. The password is no part of them; forms.password_hash alone knows it.
alter table form_drafts add column settings jsonb;
update form_drafts d set settings = f.settings
  from forms f where f.workspace_id = d.workspace_id and f.id = d.form_id;
alter table form_drafts
  alter column settings set not null,
  -- What the form is called while it is edited, to be listed and found by; null for none.
  add column name text generated always as (nullif(left(btrim(structure #>> '{attrs,name}'), 1024), '')) stored;

-- Null: the version was made before settings were recorded. Of the live one they are known.
alter table form_versions add column settings jsonb;
update form_versions v set settings = f.settings
  from forms f where f.workspace_id = v.workspace_id and f.id = v.form_id and f.version = v.version;
