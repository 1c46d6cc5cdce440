-- The builder's working copy of a form (DESIGN 4.5): one per form, apart from the live version, and free to be
-- incomplete while it is edited. The row stays when it is published, so that its revision only ever grows.
create table form_drafts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  -- json, not jsonb: the builder gets back exactly what it saved.
  structure     json not null,
  -- One more with each save. A save names the revision that it was made on, so that none overwrites another unseen.
  revision      integer not null check (revision >= 1),
  -- The live version that this copy began from, or was last compared with. When the form's is another, live changed.
  base_version  integer not null,
  saved_by      text references users (id) on delete set null,
  saved_at      timestamptz not null,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Who made a version in the builder; null for the API, and for a person who is gone.
alter table form_versions add column created_by text references users (id) on delete set null;
