-- Answers that are imported from a file: how far each import is, and what of it was left out
-- (docs/decisions/0074-answers-from-files.md).
create table submission_imports (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  total         integer not null,
  -- So many have become submissions, and were left out.
  created       integer not null default 0,
  refused       integer not null default 0,
  -- The first of those that were left out: {"line", "message"}.
  problems      jsonb not null default '[]',
  -- Null for a key, and for a person who is gone.
  requested_by  text references users (id) on delete set null,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index submission_imports_of_form on submission_imports (workspace_id, form_id, id desc);

-- Lines that are not submissions yet. A step of the import deletes those that it makes submissions of.
create table submission_import_lines (
  workspace_id  uuid not null,
  import_id     uuid not null,
  line          integer not null,
  -- {"key", "answers", "reference", "at"}
  entry         jsonb not null,
  primary key (workspace_id, import_id, line),
  foreign key (workspace_id, import_id) references submission_imports (workspace_id, id) on delete cascade
);
