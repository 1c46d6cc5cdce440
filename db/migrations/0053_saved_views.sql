-- Views of a form's submissions that a workspace shares: which are looked at, in which order, in which columns
-- (docs/decisions/0069-saved-views.md).
create table saved_views (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  name          text not null,
  -- What lists and exports take as parameters.
  query         jsonb not null,
  -- As table_settings; null: as whoever looks has arranged their table.
  columns       jsonb,
  -- Null for a key, and for a person who is gone.
  created_by    text references users (id) on delete set null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
-- Nobody can tell two of one name apart.
create unique index saved_views_by_name on saved_views (workspace_id, form_id, lower(name));
