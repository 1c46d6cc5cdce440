-- What is brought into a workspace from the file of another (docs/decisions/0080-a-workspace-in-one-file.md). The file comes
-- in parts; what is made of it is hidden (forms.deleted_at) until all of it is there.
create table workspace_imports (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  state         text not null check (state in ('receiving', 'running', 'done', 'failed')),
  keeps_ids     boolean not null,
  requested_by  text references users (id) on delete set null,
  -- Entries of the file that are taken in: a job that was cut off goes on behind them.
  entries       integer not null default 0,
  -- What was made of them, by kind.
  made          jsonb not null default '{}',
  left_out      jsonb not null default '[]',
  form_ids      uuid[] not null default '{}',
  problem       text,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id)
);
-- One at a time.
create unique index workspace_imports_under_way on workspace_imports (workspace_id) where state in ('receiving', 'running');

-- The parts of files whose bytes lie in the storage. A part outlives its import and its workspace: the sweep looks for those.
create table workspace_import_parts (
  workspace_id  uuid not null,
  import_id     uuid not null,
  number        integer not null,
  bytes         integer not null,
  primary key (workspace_id, import_id, number)
);
