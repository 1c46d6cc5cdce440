-- The backups that the schedule made. Of the instance, not of a workspace: a moment is taken by one process alone.
create table backups (
  due_at      timestamptz primary key,
  name        text not null,
  begun_at    timestamptz not null,
  -- Null: it is being made, or the process that made it died.
  finished_at timestamptz,
  bytes       bigint,
  problem     text
);
