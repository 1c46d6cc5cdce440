-- Requests that were sent under an Idempotency-Key (src/workspaces/idempotency): each runs once within a day.

create table repeatable_requests (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- SHA-256 of the caller and its key.
  key           bytea not null,
  -- SHA-256 of method, address and body.
  fingerprint   bytea not null,
  begun_at      timestamptz not null,
  -- Both null while it runs.
  status        integer,
  -- The answer, sealed; null also for one without a body.
  answer        bytea,
  primary key (workspace_id, key)
);
create index repeatable_requests_by_age on repeatable_requests (begun_at);
