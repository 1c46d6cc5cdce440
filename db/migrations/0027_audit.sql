-- Who changed what in a workspace (src/workspaces/audit): no answers and no secrets. Kept for a year.

create table audit_lines (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- Its time is when the operation began.
  id            uuid not null,
  -- 'key', 'person' or 'operator'; the id of the first two.
  actor_kind    text not null,
  actor_id      text,
  operation     text not null,
  method        text not null,
  -- Below /api/v1, with the ids in it.
  path          text not null,
  -- What it was done to, or what it made.
  thing_id      uuid,
  -- X-Request-Id; null at the command line.
  request_id    uuid,
  -- Of the answer; null: it began, and nobody knows how it ended.
  status        smallint,
  primary key (workspace_id, id)
);
create index audit_lines_of_thing on audit_lines (workspace_id, thing_id, id desc) where thing_id is not null;
